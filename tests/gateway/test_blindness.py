"""Blind battles of programs: no byte before the vote tells which models answer."""

from typing import Any

import pytest

from accounts.actor import Actor
from accounts.models import Scope
from battles.models import Battle
from gateway.models import Exchange
from models_registry.models import LanguageModel, ModelLimit
from tests import make
from tests.battles.test_blindness import CANARY, LEFT, RIGHT, spellings
from tests.fake_provider import FakeProvider
from tests.site import Reader

pytestmark = pytest.mark.django_db(transaction=True)
ASKED = [{"role": "user", "content": "tell me who you are"}]
DOORS: dict[str, dict[str, Any]] = {
    "chat/completions": {"messages": ASKED, "stream_options": {"include_usage": True}},
    "responses": {"input": "tell me who you are", "include": ["reasoning.encrypted_content"]},
    "messages": {"messages": ASKED, "max_tokens": 500},
}
ROUTERS = {"battle": "battles.auto.port.heaviest_weight", "auto": "tests.gateway.test_battle.always_battle"}


@pytest.fixture
def program(site: str, owner: Actor) -> Reader:
    scopes = [Scope.GATEWAY, Scope.READ, Scope.VOTE]
    token = make.token(owner.user, scopes=scopes, keeps_texts=True)
    return Reader(site, token=token)


@pytest.fixture(autouse=True)
def _models(fake_provider: FakeProvider) -> None:
    for canary in (LEFT, RIGHT):
        make.model(
            f"telltale-{canary}", at=fake_provider.base_url, slug=f"slug-{canary}", name=f"Name {canary}",
            organization=f"Org {canary}", system_prompt=f"System {canary}", aliases=[f"alias-{canary}"],
        )  # fmt: skip


def found_in(received: list[bytes]) -> list[bytes]:
    everything = b"\n".join(received)
    return [spelling for canary in (LEFT, RIGHT, CANARY) for spelling in spellings(canary) if spelling in everything]


@pytest.mark.slow
@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("asked", ["battle", "auto"])
@pytest.mark.parametrize("is_stream", [True, False])
def test_no_byte_before_the_vote_identifies_models(
    program: Reader, owner: Actor, settings: Any, door: str, asked: str, is_stream: bool
):
    settings.ARENA_ROUTER = ROUTERS[asked]
    request = {"model": asked, "stream": is_stream, "metadata": {"allow_battle": True}, **DOORS[door]}
    answer = program.request("POST", f"/v1/{door}", json=request)
    assert answer.status_code == 200
    assert answer.text.count("tell me who you are") >= 2
    battle, exchange = Battle.objects.get(), Exchange.objects.get()
    assert answer.headers["X-Arena-Battle"] == battle.public_id
    browser = Reader(program.site)
    browser.client.cookies.set("sessionid", make.browser(owner).cookies["sessionid"].value)
    program.api("GET", f"battles/{battle.public_id}/")
    program.api("GET", f"sessions/{battle.session.public_id}/")
    program.api("GET", f"sessions/{battle.session.public_id}/export/")
    decisions = program.api("GET", "route/decisions/").json()
    if asked == "auto":
        assert decisions["count"] == 1
        program.api("GET", f"route/decisions/{battle.decision.public_id}/")
    for path in ("/api/v1/me/tokens/", "/accounts/tokens/", "/api/v1/me/export/", f"/s/{battle.session.public_id}/"):
        assert browser.get(path).status_code == 200, path
    assert exchange.public_id in browser.get("/api/v1/me/export/").text
    assert found_in([*program.received, *browser.received]) == []
    voted = program.api("POST", f"battles/{battle.public_id}/vote/", {"choice": "left"})
    assert f"slug-{LEFT}" in voted.text
    assert len(found_in(program.received)) > 0


def test_limits_of_models_do_not_tell_which_ones_answered(program: Reader, settings: Any):
    """A blind battle counts for no limit of a model: else the first request that names it would be refused."""
    settings.ARENA_ROUTER = ROUTERS["auto"]
    for model in LanguageModel.objects.all():
        ModelLimit.objects.create(model=model, rate="1/hour")
    request = {"messages": [{"role": "user", "content": "one two"}], "metadata": {"allow_battle": True}}
    for name in ("battle", "auto"):
        assert program.request("POST", "/v1/chat/completions", json={**request, "model": name}).status_code == 200
    assert Battle.objects.count() == 2
    named = [{**request, "model": f"slug-{canary}"} for canary in (LEFT, RIGHT)]
    statuses = [program.request("POST", "/v1/chat/completions", json=body).status_code for body in (*named, *named)]
    assert statuses == [200, 200, 429, 429]
