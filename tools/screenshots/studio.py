"""The arena of the pictures: its states, its people and their browsers."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import django
import psycopg
from playwright.sync_api import Browser, BrowserContext

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arena_site.settings.test")
django.setup()

from accounts.actor import VISITOR_COOKIE  # noqa: E402
from tests.worlds.arena import VALKEY, Arena  # noqa: E402
from tools.screenshots import real_battles  # noqa: E402
from tools.screenshots.camera import LOOKS, Look, photograph, settle  # noqa: E402
from tools.screenshots.pictures import Picture, Who, World  # noqa: E402

BATTLES, GENERATED = 30, 500
ENGLISH = "en-GB"
ISSUER = {
    "ARENA_SSO": "company", "ARENA_SSO_COMPANY_NAME": "Example company",
    "ARENA_SSO_COMPANY_URL": "https://login.example.net", "ARENA_SSO_COMPANY_CLIENT_ID": "arena",
}  # fmt: skip
SCHOOL = {"ARENA_TEAMS": "members", "ARENA_SIGNUP": "invitation"}
# A teacher without a team, and prices in dollars per million tokens.
TEACHER_AND_PRICES = """
from models_registry.models import LanguageModel
from models_registry.versions import set_price
from tools.screenshots.people import create_person

create_person("vera")
for model in LanguageModel.objects.all():
    set_price(model, 10, 40)
"""
STRICT = {"ARENA_PUBLISH_PROMPTS": "true"}
# File beside the arena's data that lists the prepared worlds, so that each is prepared once.
STATE_FILE = "arranged.json"
BREAK_UPLOADS = "ALTER TABLE uploads_upload RENAME TO uploads_gone"
REPAIR_UPLOADS = "ALTER TABLE uploads_gone RENAME TO uploads_upload"


class Studio:
    """`state`: prepared worlds, cookies of people, ids for URLs."""

    def __init__(self, directory: Path, language: str = ENGLISH) -> None:
        self.language = language
        self.arena = Arena(directory / "data")
        self.arena.environment |= {"ARENA_LOCAL_MODEL": "1"} | ISSUER
        self.file = directory / STATE_FILE
        self.state: dict[str, Any] = json.loads(self.file.read_text()) if self.file.exists() else {"done": []}

    @property
    def url(self) -> str:
        """The URL with a host name: browsers offer no passkeys on IP addresses."""
        return f"http://localhost:{self.arena.port}"

    @contextmanager
    def prepared(self, world: World) -> Iterator[None]:
        self._once(World.NEW, self._create_people)
        if world not in (World.NEW, World.SCHOOL):
            self._once(World.PLAYED, self._play)
        match world:
            case World.GENERATED:
                self._once(world, self._generate)
            case World.STRICT:
                self.arena.choose_limit("battle", "visitor", "1/hour")
                self._restart_with(STRICT)
            case World.SCHOOL:
                self._restart_with(SCHOOL)
                self._once(world, lambda: self.arena.shell(TEACHER_AND_PRICES))
            case World.TERMS:
                self._once(world, lambda: self._run_module("required_terms"))
        with self._broken() if world == World.BROKEN else nullcontext():
            yield

    def _restart_with(self, environment: dict[str, str]) -> None:
        self.arena.stop()
        self.arena.environment |= environment
        self.arena.start()

    @contextmanager
    def _broken(self) -> Iterator[None]:
        self._execute(BREAK_UPLOADS)
        try:
            with self.arena.gone(VALKEY):
                yield
        finally:
            self._execute(REPAIR_UPLOADS)

    def _once(self, world: World, prepare: Any) -> None:
        if world not in self.state["done"]:
            prepare()
            self.state["done"].append(world)
            self.file.write_text(json.dumps(self.state))

    def _create_people(self) -> None:
        self.state |= self._run_module("people")

    def _play(self) -> None:
        print(f"Playing {BATTLES} battles on the local model …")
        visitor, ids = real_battles.play(self.arena.url, BATTLES)
        self.state["signed_in"][Who.VISITOR] = visitor.client.cookies[VISITOR_COOKIE]
        self.state["ids"] |= ids
        self.arena.manage("aggregate_votes")  # a report needs a snapshot
        self.state["ids"] |= self._run_module("benchmark_runs") | self._run_module("team_models")
        self.arena.manage("aggregate_votes")

    def _generate(self) -> None:
        print(f"Generating {GENERATED} battles …")
        ids = self._run_module("generated_battles", str(GENERATED))
        [[model, provider]] = self.arena.query(
            "SELECT id, provider_id FROM models_registry_languagemodel WHERE slug = %s", self.state["ids"]["model"]
        )
        [[snapshot]] = self.arena.query(
            "SELECT public_id FROM leaderboard_aggregationrun WHERE scope = 'overall' AND state = 'done'"
            " ORDER BY id DESC LIMIT 1"
        )
        self.state["ids"] |= ids | {"local_model": model, "local_provider": provider, "snapshot": snapshot}

    def _run_module(self, module: str, *arguments: str) -> dict[str, Any]:
        """Run a module in the arena and return the JSON of its last line."""
        done = self.arena.run(sys.executable, "-m", f"tools.screenshots.{module}", *arguments, within=600)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    def _execute(self, sql: str) -> None:
        with psycopg.connect(self.arena.services["DATABASE_URL"]) as connection:
            connection.execute(sql)

    def cookie_of(self, who: Who) -> dict[str, str] | None:
        if who not in self.state["signed_in"]:
            return None
        name = VISITOR_COOKIE if who == Who.VISITOR else "sessionid"
        return {"name": name, "value": self.state["signed_in"][who], "url": self.url}

    def take(self, browser: Browser, pictures: list[Picture], look: str, to: Path) -> list[str]:
        """Take the pictures; return sentences about failures."""
        failed = []
        with ExitStack() as stack:
            contexts = {who: stack.enter_context(self._context(browser, LOOKS[look], who)) for who in Who}
            for picture in pictures:
                if picture.who == Who.NEWCOMER:
                    contexts[Who.NEWCOMER].clear_cookies()
                try:
                    self._take_one(contexts[picture.who], picture, to / look / f"{picture.name}.png", LOOKS[look])
                except Exception as error:
                    failed.append(f"{look}/{picture.name}: {str(error).splitlines()[0]}")
        return failed

    def _context(self, browser: Browser, look: Look, who: Who) -> AbstractContextManager[BrowserContext]:
        context = browser.new_context(
            base_url=self.url, color_scheme=look.colours, reduced_motion="reduce", locale=self.language,
            viewport={"width": look.width, "height": look.height},
        )  # fmt: skip
        if cookie := self.cookie_of(who):
            context.add_cookies([cookie])
        return context

    def _take_one(self, context: BrowserContext, picture: Picture, to: Path, look: Look) -> None:
        page = context.new_page()
        response = page.goto(picture.address.format(**self.state["ids"], port=self.arena.port))
        assert response is not None
        assert response.status == picture.status, f"answered {response.status}"
        if picture.act is not None:
            picture.act(page)
        settle(page)
        photograph(page, to, look)
        page.close()
