"""Outside of a team nothing tells that its models exist."""

import json
import re
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from accounts.actor import Actor
from accounts.models import Team, User
from battles.actions import cast_vote, start_session
from battles.models import Call
from models_registry.config.models_file import export_models
from tests import make

pytestmark = pytest.mark.django_db
CANARY = "zyxomma"
# Values of forms and of the content policy, new in each response.
SECRETS = re.compile(r"[A-Za-z0-9]{64}|nonce-[\w-]+|nonce=\"[^\"]+\"")


@pytest.fixture
def owner() -> User:
    return make.user()


@pytest.fixture
def team(owner: User) -> Team:
    team = make.team(owner, slug="physics", name="Physics")
    make.model(slug="ada")
    make.model(slug="bert")
    for number in range(2):
        model = make.team_model(
            team, CANARY, at=f"https://9.9.9.{number + 1}/v1", slug=f"{CANARY}-{number}", name=CANARY.title(),
            organization=f"{CANARY} labs",
        )  # fmt: skip
        model.provider.name = f"{CANARY} cloud"
        model.provider.store_key(f"sk-{CANARY}-0123456789")
        model.provider.save()
    return team


PAGES = [
    "/", "/?mode=direct", "/?mode=compare", "/?mode=side_by_side", "/?mode=auto", f"/?mode=direct&models={CANARY}-0",
    "/models/", f"/models/?search={CANARY}", "/models/choices/?picker=one&find=zyx", "/models/choices/?picker=ids",
    "/models/choices/?picker=first", "/leaderboard/", "/leaderboard/compare/", "/leaderboard/?format=json",
    "/software/", "/data/", "/metrics", "/api/v1/models/", "/api/v1/models/?drawable=true", "/api/v1/leaderboard/",
    "/api/v1/leaderboard/matrix/", "/api/v1/schema/", "/benchmarks/", "/readyz",
]  # fmt: skip


@pytest.mark.usefixtures("team")
def test_pages_of_others_show_nothing_of_a_teams_models(settings: Any):
    outsider = make.user()
    make.team(outsider)
    settings.ARENA_METRICS_TOKEN = ""
    for browser in (Client(), make.browser(Actor(user=outsider)), make.api(outsider)):
        for address in PAGES:
            response = browser.get(address)
            body = response.content.decode().lower() if not response.streaming else ""
            # A search repeats its words.
            shown = re.sub(f'value="{CANARY}"|(search|find|models)={CANARY}(-0)?', "", body)
            assert CANARY not in shown, address


@pytest.mark.usefixtures("team")
@pytest.mark.parametrize("name", [f"{CANARY}-0", f"physics~{CANARY}-0"])
def test_name_of_a_teams_model_is_as_unknown_as_any(name: str):
    outsider = make.api()

    def answers(name: str) -> list[tuple[int, str]]:
        found = [
            outsider.get(f"/api/v1/models/{name}/"),
            outsider.get(f"/leaderboard/models/{name}/"),
            outsider.get(f"/api/v1/leaderboard/models/{name}/"),
            outsider.get(f"/v1/models/{name}"),
            outsider.post("/api/v1/route/", {"prompt": "Hi", "models": [name]}, content_type="application/json"),
            outsider.post(
                "/api/v1/sessions/", {"prompt": "Hi", "mode": "direct", "models": [name]},
                content_type="application/json",
            ),
            outsider.post("/v1/chat/completions", {
                "model": name, "messages": [{"role": "user", "content": "Hi"}],
            }, content_type="application/json"),
        ]  # fmt: skip
        bodies = [SECRETS.sub("", response.content.decode()) for response in found]
        return [
            (response.status_code, body.replace(name, "NAME")) for response, body in zip(found, bodies, strict=True)
        ]

    assert answers(name) == answers(name.replace(CANARY, "unknown"))


@pytest.mark.usefixtures("team")
def test_files_of_the_operator_name_the_sites_models_only():
    assert CANARY not in export_models()
    listed = StringIO()
    call_command("export_models", stdout=listed)
    assert CANARY not in listed.getvalue()
    with pytest.raises(Exception, match=r"(?i)provider"):
        call_command("discover_models", f"{CANARY} cloud")


def test_revealed_battle_of_a_team_names_its_models_to_owner(team: Team, owner: User):
    team.uses_site_models = False
    team.save()
    actor = Actor(user=owner)
    battle = start_session(actor=actor, prompt="one two three", place=team)
    make.complete_answers(battle)
    cast_vote(actor=actor, battle=battle, choice="left")

    browser = make.browser(actor)
    page = browser.get(battle.session.get_absolute_url()).content.decode()
    assert f'href="/leaderboard/models/physics~{CANARY}-' in page
    payload = json.loads(browser.get(f"/api/v1/battles/{battle.public_id}/").content)
    assert {side["model"]["id"] for side in payload["sides"]} == {f"physics~{CANARY}-0", f"physics~{CANARY}-1"}
    assert not Call.objects.filter(model__team=None).exists()
    for address in ("/leaderboard/", "/api/v1/leaderboard/", "/metrics", "/api/v1/models/"):
        assert CANARY not in Client().get(address).content.decode().lower(), address
