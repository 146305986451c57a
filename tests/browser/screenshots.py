"""`python -m tests.browser.screenshots`: a running arena, in which it asks and votes, in light, dark and on a phone."""

import argparse
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.browser.conftest import ARGUMENTS, CHROMIUM

LOOKS = {"light": ("light", 1280, 860), "dark": ("dark", 1280, 860), "phone": ("light", 360, 740)}
PAGES = {
    "new": "/",
    "compare": "/?mode=compare",
    "leaderboard": "/leaderboard/",
    "charts": "/leaderboard/charts/",
    "snapshots": "/leaderboard/snapshots/",
    "sign-in": "/accounts/login/",
    "not-found": "/nowhere/",
}
PROMPT = "Explain why the sky is blue to a curious ten-year-old."
PATIENCE_MS = 180_000  # of a local model on a busy machine


def take(page: Page, url: str, look: str, to: Path) -> None:
    for name, address in PAGES.items():
        page.goto(url + address, wait_until="networkidle")
        page.screenshot(path=to / f"{name}-{look}.png")
    page.goto(url)
    page.locator("#prompt").fill(PROMPT)
    page.keyboard.press("Enter")
    page.wait_for_url("**/s/**")
    page.get_by_role("button", name="Tie").wait_for(timeout=PATIENCE_MS)
    page.screenshot(path=to / f"battle-{look}.png")
    page.get_by_role("button", name="Tie").click()
    page.locator(".reveal").wait_for()
    page.screenshot(path=to / f"reveal-{look}.png")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--to", type=Path, default=Path("docs/screenshots"))
    chosen = parser.parse_args()
    chosen.to.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        for look, (colours, width, height) in LOOKS.items():
            context = browser.new_context(
                color_scheme=colours, viewport={"width": width, "height": height}, reduced_motion="reduce"
            )
            take(context.new_page(), chosen.url.rstrip("/"), look, chosen.to)
            context.close()
        browser.close()


if __name__ == "__main__":
    main()
