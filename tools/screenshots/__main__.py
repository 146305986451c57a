"""`make screenshots`: start an arena, play battles, and photograph every page in every look."""

import argparse
import fnmatch
import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.worlds.chromium import ARGUMENTS, CHROMIUM
from tools.screenshots.camera import LOOKS
from tools.screenshots.captions import captions
from tools.screenshots.coverage import complaints
from tools.screenshots.pictures import PICTURES, TOUR, Picture, World
from tools.screenshots.studio import BATTLES, ENGLISH, GENERATED, Studio

TOUR_FOLDER = Path("docs/screenshots")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", type=Path, default=Path("screenshots"))
    parser.add_argument("--tour", action="store_true", help="only the pictures of docs/screenshots, and into it")
    parser.add_argument("--only", default="*", help="names of pictures, a star for anything")
    parser.add_argument("--arena", type=Path, help="a directory whose arena is kept for further runs")
    parser.add_argument("--language", default=ENGLISH, help="of the browser; acts before pictures know English only")
    arguments = parser.parse_args()
    if problems := complaints():
        print(*problems, sep="\n")
        return 1
    directory = arguments.arena or Path(tempfile.mkdtemp(prefix="arena-screenshots-", dir="/tmp"))
    directory.mkdir(exist_ok=True)
    directory.chmod(0o711)  # started by root, PostgreSQL runs as an unprivileged user that must reach its files
    to = TOUR_FOLDER if arguments.tour else arguments.to
    wanted = [
        (look, picture)
        for look in LOOKS
        for picture in PICTURES
        if fnmatch.fnmatchcase(picture.name, arguments.only)
        and (picture.act is None or arguments.language == ENGLISH)
        and (not arguments.tour or f"{look}/{picture.name}" in TOUR)
    ]
    studio = Studio(directory, arguments.language)
    try:
        studio.arena.start()
        failed = take_all(studio, wanted, to)
    finally:
        studio.arena.stop()
        if arguments.arena is None:
            shutil.rmtree(directory)
    if not arguments.tour:
        (to / "README.md").write_text(captions(BATTLES, GENERATED))
    print(*failed, sep="\n")
    return min(len(failed), 1)


def take_all(studio: Studio, wanted: list[tuple[str, Picture]], to: Path) -> list[str]:
    """Take each picture in its look; return sentences about failures."""
    failed = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        for world in World:
            if not any(picture.world == world for _, picture in wanted):
                continue
            with studio.prepared(world):
                for look in LOOKS:
                    pictures = [picture for name, picture in wanted if (name, picture.world) == (look, world)]
                    print(f"{world}, {look}: {len(pictures)} pictures …")
                    failed += studio.take(browser, pictures, look, to)
        browser.close()
    return failed


if __name__ == "__main__":
    sys.exit(main())
