"""Version and commit of this code, for backups and refusals."""

import os
from functools import cache

from arena_site.settings.env import BASE_DIR

VERSION = "0.2.0"


@cache
def commit() -> str:
    """Return the commit that is checked out or that the image was built from; empty where none is known."""
    if built_from := os.environ.get("ARENA_COMMIT"):
        return built_from
    git = BASE_DIR / ".git"
    try:
        if git.is_file():  # a worktree
            git = BASE_DIR / git.read_text().removeprefix("gitdir:").strip()
        head = (git / "HEAD").read_text().strip()
        if not head.startswith("ref: "):
            return head
        name = head.removeprefix("ref: ")
        common = git / "commondir"
        if common.exists():
            git = git / common.read_text().strip()
        if (git / name).exists():
            return (git / name).read_text().strip()
        packed = (line.split(" ") for line in (git / "packed-refs").read_text().splitlines())
        return next((words[0] for words in packed if words[1:] == [name]), "")
    except OSError:
        return ""


def this_version() -> str:
    return version_name(VERSION, commit())


def version_name(version: str, commit: str) -> str:
    if not version:
        return "an unnamed version"
    return f"version {version}, commit {commit[:12]}" if commit else f"version {version}"
