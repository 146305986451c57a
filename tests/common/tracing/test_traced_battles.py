"""One trace from a request through the worker to its calls, without a word of anyone."""

from typing import Any

import httpx2
import pytest

from battles import actions
from battles.errors import AlreadyVoted
from battles.models import Call, Turn, Vote
from common import tracing
from common.tracing import pipeline
from models_registry.models import Provider
from tests import make
from tests.fake_provider import FakeProvider
from tests.gateway.software import issue_token
from tests.leaderboard.tally_checks import aggregate
from tests.site import Reader
from tests.waiting import wait_for
from tests.worlds.otlp_sink import OtlpSink, ReceivedSpan

pytestmark = pytest.mark.django_db(transaction=True)
PARENT = f"00-{7:032x}-{9:016x}-01"
PROMPT = "canaryprompt of the person's words"
KEY = "sk-canary-of-a-provider-0123456789"


def children(spans: list[ReceivedSpan], parent: ReceivedSpan) -> list[str]:
    return sorted(span.name for span in spans if span.parent == parent.id)


def named(spans: list[ReceivedSpan], beginning: str) -> list[ReceivedSpan]:
    return [span for span in spans if span.name.startswith(beginning)]


def test_battle_is_one_trace_with_its_attempts(site: str, traced: OtlpSink, fake_provider: FakeProvider):
    for _ in range(2):
        make.model("honest", at=fake_provider.base_url, parameters={"max_tokens": 300, "temperature": 0.5})
    reader = Reader(site)
    battle = reader.start_battle(PROMPT)
    reader.wait_until_answered(battle)
    turn = Turn.objects.get()
    received = traced.wait_for(turn.trace[3:35], POST=1, start=1, turn=1, chat=2, store=2)
    [request], [start], [answered] = named(received, "POST"), named(received, "start"), named(received, "turn")
    assert (request.name, request.parent) == ("POST api-session-list", "")
    assert request.attributes == {
        "http.request.method": "POST", "http.route": "/api/v1/sessions/$", "http.response.status_code": 201,
    }  # fmt: skip
    assert children(received, request) == ["start battle"]
    assert start.attributes.keys() == {"enduser.id", "arena.mode", "arena.origin"}
    assert children(received, start) == ["turn"]
    assert answered.attributes == {"arena.attempt": 1, "arena.mode": "blind", "arena.origin": "draw"}
    assert answered.events == ("queued",)
    assert children(received, answered) == ["chat honest", "chat honest", "store", "store"]
    call = next(span for span in named(received, "chat") if span.attributes["arena.side"] == "left")
    assert call.is_client
    first_s = call.attributes.pop("gen_ai.response.time_to_first_chunk")
    assert 0 <= first_s < 60
    assert call.attributes == {
        "gen_ai.operation.name": "chat", "gen_ai.provider.name": "other", "gen_ai.request.model": "honest",
        "gen_ai.request.max_tokens": 300, "gen_ai.request.temperature": 0.5,
        "gen_ai.response.finish_reasons": ["stop"], "gen_ai.response.id": "r-1",
        "gen_ai.usage.input_tokens": 7, "gen_ai.usage.output_tokens": 5,
        "arena.side": "left", "arena.mode": "blind", "arena.origin": "draw",
    }  # fmt: skip
    stored = Call.objects.get(answer__side__position="left")
    assert (stored.prompt_tokens, stored.completion_tokens, round(first_s * 1000)) == (7, 5, stored.first_token_ms)
    assert not any("traceparent" in headers for headers in fake_provider.headers)


def test_follow_up_vote_and_aggregation_are_traced(traced: OtlpSink):
    actor = make.member()
    battle = make.answered_battle(make.model(), make.model(), actor=actor)
    with tracing.span("request", parent=PARENT) as request:
        turn = actions.follow_up(actor=actor, battle=battle, prompt="more")
    assert turn.trace == str(request.place)
    make.complete_answers(battle)
    actions.cast_vote(actor=actor, battle=battle, choice=Vote.Choice.LEFT)
    with pytest.raises(AlreadyVoted):
        actions.cast_vote(actor=actor, battle=battle, choice=Vote.Choice.LEFT)
    aggregate()
    wait_for(lambda: len(named(traced.spans, "cast vote")) == 2 and named(traced.spans, "aggregate"))
    cast, refused = named(traced.spans, "cast vote")
    person = {"enduser.id": pipeline.pseudonym(actor.key)}
    assert cast.attributes == {**person, "arena.mode": "blind", "arena.origin": "draw"}
    assert refused.attributes == {**person, "error.type": "already_voted"}
    actions.delete_session(battle.session)
    assert set(Turn.objects.values_list("trace", flat=True)) == {""}


def test_nothing_that_anyone_wrote_reaches_the_collector(site: str, traced: OtlpSink, fake_provider: FakeProvider):
    models = [make.model(name, at=fake_provider.base_url) for name in ("indiscreet", "indiscreet-401", "honest")]
    for provider in Provider.objects.all():
        provider.store_key(KEY)
        provider.save()
    owner = make.member(email="canary.person@example.org")
    program = Reader(site, issue_token(owner))
    person = Reader(site)
    battle = person.start_battle(PROMPT)
    person.wait_until_answered(battle)
    person.api("POST", f"battles/{battle['id']}/vote/", {"choice": "left"})
    person.get(f"/canary-path/{PROMPT}/?q=canaryquery")
    person.request("CANARYMETHOD", "/")
    for model in models:
        body = {"model": model.full_slug, "messages": [{"role": "user", "content": PROMPT}]}
        program.post("/v1/chat/completions", json=body)
    wait_for(lambda: len(named(traced.spans, "gateway")) == 3)
    wait_for(lambda: Vote.objects.count() == len(named(traced.spans, "cast vote")))
    sent = b"".join(traced.bodies)
    for canary in ("canary", PROMPT, "person's", KEY, KEY[:16], "127.0.0.1", program.token, battle["id"]):
        assert canary.encode() not in sent, canary


def test_answer_of_gateway_is_one_trace(site: str, traced: OtlpSink, fake_provider: FakeProvider):
    model = make.model("honest", at=fake_provider.base_url)
    Provider.objects.update(sends_trace=True)
    owner = make.member()
    program = Reader(site, issue_token(owner))
    body: dict[str, Any] = {"model": model.full_slug, "messages": [{"role": "user", "content": "one two"}]}
    for is_stream in (False, True):
        fake_provider.forget()
        traced.forget()
        assert program.post("/v1/chat/completions", json={**body, "stream": is_stream}).status_code == 200
        wait_for(lambda: len(named(traced.spans, "gateway")) == len(named(traced.spans, "POST")) == 1)
        [request], [answer] = named(traced.spans, "POST"), named(traced.spans, "gateway")
        [call] = named(traced.spans, "chat")
        assert (request.parent, answer.parent, call.parent) == ("", request.id, answer.id)
        assert request.attributes["http.response.status_code"] == 200
        assert answer.attributes == {"enduser.id": pipeline.pseudonym(owner.key)}
        assert fake_provider.headers[-1]["traceparent"] == f"00-{call.trace}-{call.id}-01"


def test_traceparent_is_believed_from_trusted_proxies_only(site: str, traced: OtlpSink, settings: Any):
    given = {"traceparent": PARENT}
    httpx2.get(f"{site}/api/v1/models/", headers=given)
    settings.ARENA_TRUSTED_PROXIES = ["127.0.0.1/32"]
    httpx2.get(f"{site}/api/v1/models/", headers=given)
    [span] = traced.wait_for(f"{7:032x}", GET=1)
    assert span.parent == f"{9:016x}"
    assert len(traced.spans) == 2


@pytest.mark.parametrize("behaviour", ["absent", "refusing", "slow", "hanging"])
def test_battle_is_answered_without_the_collector(
    site: str, traced: OtlpSink, fake_provider: FakeProvider, monkeypatch: pytest.MonkeyPatch, behaviour: str
):
    monkeypatch.setattr(pipeline, "SHUTDOWN_TIMEOUT_S", 0.05)
    traced.behaviour = behaviour
    if behaviour == "absent":
        traced.stop()
    for _ in range(2):
        make.model("honest", at=fake_provider.base_url)
    reader = Reader(site)
    answered = reader.wait_until_answered(reader.start_battle("one two three"))
    assert [answer["state"] for answer in answered["turns"][0]["answers"]] == ["done", "done"]
    assert reader.api("POST", f"battles/{answered['id']}/vote/", {"choice": "left"}).status_code == 201
