"""`make films`: play seven journeys through an arena and store a screen of each second, and a sheet of each journey."""

import argparse
import fnmatch
import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.fake_provider import FakeProvider
from tests.worlds.chromium import ARGUMENTS, CHROMIUM
from tools.films.film import Film, store
from tools.films.journeys import JOURNEYS, Journey
from tools.films.scene import Scene
from tools.screenshots.pictures import World
from tools.screenshots.studio import Studio


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", type=Path, default=Path("films"))
    parser.add_argument("--only", default="*", help="names of journeys, a star for anything")
    parser.add_argument("--arena", type=Path, help="a directory whose arena is kept for further films")
    arguments = parser.parse_args()
    directory = arguments.arena or Path(tempfile.mkdtemp(prefix="arena-films-", dir="/tmp"))
    directory.mkdir(exist_ok=True)
    directory.chmod(0o711)  # started by root, PostgreSQL runs as an unprivileged user that must reach its files
    journeys = [journey for journey in JOURNEYS if fnmatch.fnmatchcase(journey.name, arguments.only)]
    studio, provider = Studio(directory), FakeProvider().start()
    try:
        studio.arena.start()
        found = film_all(studio, provider, journeys, arguments.to)
    finally:
        studio.arena.stop()
        provider.stop()
        if arguments.arena is None:
            shutil.rmtree(directory)
    print(*found, sep="\n")
    return 0


def film_all(studio: Studio, provider: FakeProvider, journeys: list[Journey], to: Path) -> list[str]:
    """Store each journey's film, also of one that ends early; return sentences about what is wrong in them."""
    found = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        for world in World:
            for journey in [journey for journey in journeys if journey.world == world]:
                with studio.prepared(world):
                    print(f"{journey.name}: {journey.about}")
                    film = Film()
                    try:
                        _play(Scene(film, browser, studio, provider), journey)
                    except Exception as error:
                        found.append(f"{journey.name} ended early: {error}")
                    store(film.screens(), to / journey.name)
                    found += [f"{journey.name}: {sentence}" for sentence in film.found]
        browser.close()
    return found


def _play(scene: Scene, journey: Journey) -> None:
    scene.enter(journey.screen)
    journey.play(scene)
    scene.film.look()


if __name__ == "__main__":
    sys.exit(main())
