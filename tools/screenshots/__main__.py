"""`make screenshots`: start an arena, play battles in it, and photograph every page in every look."""

import argparse
import fnmatch
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import django
import psycopg
from playwright.sync_api import Browser, BrowserContext, sync_playwright

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arena_site.settings.test")
django.setup()

from accounts.actor import VISITOR_COOKIE  # noqa: E402
from tests.browser.conftest import ARGUMENTS, CHROMIUM  # noqa: E402
from tests.faults.running import VALKEY, Arena  # noqa: E402
from tools.screenshots import real_battles  # noqa: E402
from tools.screenshots.camera import LOOKS, Look, photograph, settle  # noqa: E402
from tools.screenshots.captions import captions  # noqa: E402
from tools.screenshots.coverage import complaints  # noqa: E402
from tools.screenshots.pictures import PICTURES, TOUR, Picture, Who, World  # noqa: E402

BATTLES, GENERATED = 30, 500
TOUR_FOLDER = Path("docs/screenshots")
NO_LIMITS = {
    f"ARENA_LIMIT_{what}": "off"
    for what in (
        "BATTLE_VISITOR", "TURN_VISITOR", "VOTE_VISITOR", "UPLOAD_VISITOR", "STAR_VISITOR", "REPORT_VISITOR",
        "SIGNIN_ADDRESS", "SIGNIN_NETWORK",
    )
}  # fmt: skip
STRICT = {"ARENA_PUBLISH_PROMPTS": "true", "ARENA_LIMIT_BATTLE_VISITOR": "1/hour"}
# Kept with the arena's data: what is there, so that it is arranged once.
ARRANGED = "arranged.json"
NOTHING_LEFT_OF_FILES = "ALTER TABLE uploads_upload RENAME TO uploads_gone"
FILES_AGAIN = "ALTER TABLE uploads_gone RENAME TO uploads_upload"


class Studio:
    """The arena of the pictures. `known`: the cookies of people and the ids of what there is to see."""

    def __init__(self, directory: Path) -> None:
        self.arena = Arena(directory / "data")
        self.arena.environment |= {"ARENA_LOCAL_MODEL": "1"} | NO_LIMITS
        self.file = directory / ARRANGED
        self.known: dict[str, Any] = json.loads(self.file.read_text()) if self.file.exists() else {"done": []}

    @property
    def url(self) -> str:
        """By name: at an address of numbers browsers offer no passkeys."""
        return f"http://localhost:{self.arena.port}"

    @contextmanager
    def arranged(self, world: World) -> Iterator[None]:
        self._once(World.NEW, self._invite_people)
        if world != World.NEW:
            self._once(World.PLAYED, self._play)
        match world:
            case World.GENERATED:
                self._once(world, self._generate)
            case World.STRICT:
                self.arena.stop()
                self.arena.environment |= STRICT
                self.arena.start()
        with self._broken() if world == World.BROKEN else nullcontext():
            yield

    @contextmanager
    def _broken(self) -> Iterator[None]:
        self._write(NOTHING_LEFT_OF_FILES)
        try:
            with self.arena.gone(VALKEY):
                yield
        finally:
            self._write(FILES_AGAIN)

    def _once(self, world: World, arrange: Any) -> None:
        if world not in self.known["done"]:
            arrange()
            self.known["done"].append(world)
            self.file.write_text(json.dumps(self.known))

    def _invite_people(self) -> None:
        self.known |= self._ran("people")

    def _play(self) -> None:
        print(f"Playing {BATTLES} battles on the local model …")
        visitor, ids = real_battles.play(self.arena.url, BATTLES)
        self.known["signed_in"][Who.VISITOR] = visitor.client.cookies[VISITOR_COOKIE]
        self.known["ids"] |= ids
        self.arena.manage("aggregate_votes")

    def _generate(self) -> None:
        print(f"Generating {GENERATED} battles …")
        ids = self._ran("generated_battles", str(GENERATED))
        [[model, provider]] = self.arena.query(
            "SELECT id, provider_id FROM models_registry_languagemodel WHERE slug = %s", self.known["ids"]["model"]
        )
        [[snapshot]] = self.arena.query(
            "SELECT public_id FROM leaderboard_aggregationrun WHERE scope = 'overall' AND state = 'done'"
            " ORDER BY id DESC LIMIT 1"
        )
        self.known["ids"] |= ids | {"local_model": model, "local_provider": provider, "snapshot": snapshot}

    def _ran(self, module: str, *words: str) -> dict[str, Any]:
        """What it said in its last line."""
        done = self.arena.run(sys.executable, "-m", f"tools.screenshots.{module}", *words, within=600)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    def _write(self, sql: str) -> None:
        with psycopg.connect(self.arena.services["DATABASE_URL"]) as connection:
            connection.execute(sql)

    def cookie_of(self, who: Who) -> dict[str, str] | None:
        if who not in self.known["signed_in"]:
            return None
        name = VISITOR_COOKIE if who == Who.VISITOR else "sessionid"
        return {"name": name, "value": self.known["signed_in"][who], "url": self.url}

    def take(self, browser: Browser, pictures: list[Picture], look: str, to: Path) -> list[str]:
        """Sentences about pictures that could not be taken."""
        failed = []
        with ExitStack() as stack:
            contexts = {who: stack.enter_context(self._context(browser, LOOKS[look], who)) for who in Who}
            for picture in pictures:
                if picture.who == Who.NOBODY:  # whose first visit it is
                    contexts[Who.NOBODY].clear_cookies()
                try:
                    self._take_one(contexts[picture.who], picture, to / look / f"{picture.name}.png", LOOKS[look])
                except Exception as error:
                    failed.append(f"{look}/{picture.name}: {str(error).splitlines()[0]}")
        return failed

    def _context(self, browser: Browser, look: Look, who: Who) -> AbstractContextManager[BrowserContext]:
        context = browser.new_context(
            base_url=self.url, color_scheme=look.colours, reduced_motion="reduce", locale="en-GB",
            viewport={"width": look.width, "height": look.height},
        )  # fmt: skip
        if cookie := self.cookie_of(who):
            context.add_cookies([cookie])
        return context

    def _take_one(self, context: BrowserContext, picture: Picture, to: Path, look: Look) -> None:
        page = context.new_page()
        response = page.goto(picture.address.format(**self.known["ids"], port=self.arena.port))
        assert response is not None
        assert response.status == picture.status, f"answered {response.status}"
        if picture.act is not None:
            picture.act(page)
        settle(page)
        photograph(page, to, look)
        page.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", type=Path, default=Path("screenshots"))
    parser.add_argument("--tour", action="store_true", help="only the pictures of docs/screenshots, and into it")
    parser.add_argument("--only", default="*", help="names of pictures, a star for anything")
    parser.add_argument("--arena", type=Path, help="a directory whose arena is kept, and arranged once")
    chosen = parser.parse_args()
    if found := complaints():
        print(*found, sep="\n")
        return 1
    directory = chosen.arena or Path(tempfile.mkdtemp(prefix="arena-screenshots-", dir="/tmp"))
    directory.mkdir(exist_ok=True)
    directory.chmod(0o711)  # PostgreSQL of a root user runs as nobody
    to = TOUR_FOLDER if chosen.tour else chosen.to
    wanted = [
        (look, picture)
        for look in LOOKS
        for picture in PICTURES
        if fnmatch.fnmatchcase(picture.name, chosen.only) and (not chosen.tour or f"{look}/{picture.name}" in TOUR)
    ]
    studio = Studio(directory)
    try:
        studio.arena.start()
        failed = take_all(studio, wanted, to)
    finally:
        studio.arena.stop()
        if chosen.arena is None:
            shutil.rmtree(directory)
    if not chosen.tour:
        (to / "README.md").write_text(captions(BATTLES, GENERATED))
    print(*failed, sep="\n")
    return min(len(failed), 1)


def take_all(studio: Studio, wanted: list[tuple[str, Picture]], to: Path) -> list[str]:
    """Take the pictures, each in its look. Return sentences about those that failed."""
    failed = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        for world in World:
            if not any(picture.world == world for _, picture in wanted):
                continue
            with studio.arranged(world):
                for look in LOOKS:
                    pictures = [picture for of, picture in wanted if (of, picture.world) == (look, world)]
                    print(f"{world}, {look}: {len(pictures)} pictures …")
                    failed += studio.take(browser, pictures, look, to)
        browser.close()
    return failed


if __name__ == "__main__":
    sys.exit(main())
