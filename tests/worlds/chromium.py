"""Debian's Chromium without its own network requests."""

CHROMIUM = "/usr/bin/chromium-headless-shell"  # takes a third less CPU time than the whole browser
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run",
]  # fmt: skip
