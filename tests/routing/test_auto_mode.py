"""The mode `auto` of POST sessions/: direct chats and blind battles with their decisions."""

from typing import Any

import pytest

from battles.actions import cast_vote
from battles.calls.values import CallResult
from battles.models import Battle, RoutingDecision, Vote
from battles.worker import turn_store
from models_registry.models import Breaker, LanguageModel, ModelLimit, Price
from models_registry.providers import FailureCode
from routing.models import Rule
from tests import make
from tests.routing import trained

pytestmark = pytest.mark.django_db

SESSIONS = "/api/v1/sessions/"
NAMES = ("ada-canary", "bob-canary", "cyd-canary", "dee-canary")


@pytest.fixture
def models() -> list[LanguageModel]:
    return [make.model(slug=name, name=name.title()) for name in NAMES]


@pytest.fixture
def member() -> Any:
    return make.member()


def start(member: Any, **body: object) -> Any:
    body = {"prompt": "How are you today?", "mode": "auto", **body}
    return make.browser(member).post(SESSIONS, body, content_type="application/json")


def test_auto_starts_a_chat_with_the_best(models, member, monkeypatch):
    ada, bob, cyd, dee = models
    trained.hold(monkeypatch, {ada: 0.0, bob: 1.0, cyd: 3.0, dee: 0.5}, ranking=[cyd])
    response = start(member, dial="best", context={"workflow": "mail"})
    [battle] = response.json()["battles"]
    decision = RoutingDecision.objects.get()
    assert (response.status_code, battle["mode"], battle["state"]) == (201, "direct", "answering")
    assert [side["model"]["id"] for side in battle["sides"]] == ["cyd-canary"]
    shown = battle["decision"]
    assert [alternative["model"] for alternative in shown.pop("alternatives")][:2] == ["cyd-canary", "bob-canary"]
    assert shown == {
        "decision": decision.public_id, "target": "model", "model": "cyd-canary", "runner_up": "bob-canary",
        "query_type": "general-chat", "confidence": 0.95, "policy": "learned 7",
        "reason": {"code": "best", "sentence": "Chosen because it wins 95 % of such questions here."},
    }  # fmt: skip
    assert (decision.battle.public_id, decision.battle.origin, decision.session.public_id) == (
        battle["id"], Battle.Origin.ROUTER, response.json()["id"]
    )  # fmt: skip
    assert (decision.context, decision.dial) == ({"workflow": "mail"}, 1.0)
    assert make.browser(member).get(f"/api/v1/battles/{battle['id']}/").json()["decision"]["model"] == "cyd-canary"


def explored_battle(member: Any, models: list[LanguageModel], monkeypatch: pytest.MonkeyPatch) -> Battle:
    monkeypatch.setattr("routing.deciding.learned_choice.may_explore", lambda **_: True)
    ada, bob, cyd, dee = models
    trained.hold(monkeypatch, {ada: 0.0, bob: 2.0, cyd: 2.0, dee: 0.5}, ranking=[cyd])
    [battle] = start(member).json()["battles"]
    return Battle.objects.get(public_id=battle["id"])


@pytest.mark.slow
def test_undecided_battle_names_its_pair_nowhere(models, member, monkeypatch, caplog):
    battle = explored_battle(member, models, monkeypatch)
    assert (battle.mode, battle.origin, battle.propensity) == (Battle.Mode.BLIND, Battle.Origin.ROUTER, 0.5)
    assert {side.model.slug for side in battle.sides.all()} == {"bob-canary", "cyd-canary"}
    browser = make.browser(member)
    decision = battle.decision.public_id
    session = f"{SESSIONS}{battle.session.public_id}/"
    pages = [
        f"/api/v1/battles/{battle.public_id}/", session, f"{session}export/", f"{session}export/?as=markdown",
        "/api/v1/route/decisions/", f"/api/v1/route/decisions/{decision}/", "/api/v1/route/decisions/?target=arena",
        f"/s/{battle.session.public_id}/", f"/battles/{battle.public_id}/", "/api/v1/me/votes/", "/sessions/", SESSIONS,
    ]  # fmt: skip
    for state in ("answering", "answered"):
        for path in pages:
            response = browser.get(path)
            everything = (response.content.decode() + str(response.headers)).lower()
            assert not [name for name in NAMES if name in everything], (state, path)
        make.complete_answers(battle)
    assert browser.get(pages[0]).json()["decision"] == {
        "target": "arena", "query_type": "general-chat",
        "reason": {
            "code": "explored", "sentence": "Two models may be the best for this question. Your vote decides."
        },
    }  # fmt: skip
    assert not [name for name in NAMES if name in caplog.text.lower()]


def test_vote_reveals_the_decision(models, member, monkeypatch):
    battle = explored_battle(member, models, monkeypatch)
    make.complete_answers(battle)
    vote = cast_vote(actor=member, battle=battle, choice=Vote.Choice.LEFT)
    assert vote.origin == Battle.Origin.ROUTER
    browser = make.browser(member)
    shown = browser.get(f"/api/v1/battles/{battle.public_id}/").json()["decision"]
    assert {shown["model"], shown["runner_up"]} == {"bob-canary", "cyd-canary"}
    listed = browser.get("/api/v1/route/decisions/").json()["results"][0]
    assert (listed["model"], listed["battle"]) == (shown["model"], battle.public_id)
    assert len(listed["alternatives"]) == 4


def test_rule_decides_between_chat_and_battle(models, member):
    Rule.objects.create(target="model", model=models[2], data_loaded="yes", is_active=True)
    Rule.objects.create(target="arena", is_active=True)
    [chat] = start(member, context={"data_loaded": True}).json()["battles"]
    assert (chat["mode"], chat["decision"]["query_type"]) == ("direct", "data-analysis")
    assert chat["decision"]["model"] == "cyd-canary"
    [battle] = start(member).json()["battles"]
    assert (battle["mode"], battle["sides"], battle["decision"]["reason"]["code"]) == ("blind", None, "rule_battle")


def test_new_battle_of_a_session_can_be_auto(models, member):
    session = start(member).json()["id"]
    body = {"prompt": "Name three rivers.", "mode": "auto", "models": ["dee-canary"]}
    battle = make.browser(member).post(f"{SESSIONS}{session}/battles/", body, content_type="application/json").json()
    assert (battle["decision"]["model"], battle["decision"]["reason"]["code"]) == ("dee-canary", "only_one")
    assert RoutingDecision.objects.filter(session__public_id=session).count() == 2


@pytest.mark.parametrize(
    "body",
    [
        {"dial": 2}, {"dial": "1e400"}, {"context": {"tool": 1}}, {"models": ["unknown"]}, {"max_cost": "NaN"},
        {"mode": "blind", "dial": 0.5}, {"mode": "direct", "models": ["ada-canary"], "context": {}},
        {"filters": {"license_kind": "open"}}, {"prompt": ""},
    ],
)  # fmt: skip
def test_bad_options_of_auto_are_refused(body, models, member):
    assert start(member, **body).status_code == 400
    assert not Battle.objects.exists()


def test_repeated_key_starts_one_session(models, member):
    browser, body = make.browser(member), {"prompt": "Name three rivers.", "mode": "auto"}
    first, again = (
        browser.post(SESSIONS, body, content_type="application/json", headers={"Idempotency-Key": "k"})
        for _ in range(2)
    )
    assert first.json() == again.json()
    assert (Battle.objects.count(), RoutingDecision.objects.count()) == (1, 1)


def test_model_over_its_limit_makes_way_for_the_next(models, member):
    LanguageModel.objects.filter(slug="ada-canary").update(weight=5)
    ModelLimit.objects.create(model=models[0], rate="1/hour")
    chats = [start(member).json()["battles"][0]["decision"] for _ in range(2)]
    assert [(chat["model"], chat["target"]) for chat in chats] == [("ada-canary", "model"), ("bob-canary", "fallback")]
    assert chats[1]["reason"]["code"] == "fallback"


def test_model_over_budget_makes_way_for_the_next(models, member):
    LanguageModel.objects.filter(slug="ada-canary").update(weight=5, provider=make.provider("http://127.0.0.1:8/v1"))
    ada = LanguageModel.objects.get(slug="ada-canary")
    Price.objects.create(model=ada, input_per_million=1, output_per_million=1)
    type(ada.provider).objects.filter(pk=ada.provider_id).update(daily_budget="0.00000001")
    assert start(member, dial="best").json()["battles"][0]["decision"]["model"] != "ada-canary"


def failing(battle: Battle, *, slug: str) -> Any:
    [(claimed, calls)] = turn_store.claim_and_start([battle.turns.get().pk])
    [call] = [call for call in calls if call.row.model.slug == slug]
    return turn_store.redraw(claimed, call, CallResult(error=FailureCode.INTERRUPTED))


def test_chat_falls_back_before_the_first_word(models, member, monkeypatch):
    ada, bob, cyd, dee = models
    trained.hold(monkeypatch, {ada: 0.0, bob: 1.0, cyd: 3.0, dee: 0.5}, ranking=[cyd])
    battle = Battle.objects.get(public_id=start(member).json()["battles"][0]["id"])
    Breaker.objects.create(model=bob, reason="failed", opened_at="2026-01-01T00:00Z", probe_at="2099-01-01T00:00Z")
    assert failing(battle, slug="cyd-canary").row.model == dee
    shown = make.browser(member).get(f"/api/v1/battles/{battle.public_id}/").json()
    assert [side["model"]["id"] for side in shown["sides"]] == ["dee-canary"]
    assert (shown["decision"]["target"], shown["decision"]["reason"]["code"]) == ("fallback", "fallback")


def test_data_of_a_rule_falls_back_to_no_other_model(models, member):
    Rule.objects.create(target="model", model=models[2], data_loaded="yes", is_active=True)
    chat = start(member, context={"data_loaded": True}).json()["battles"][0]
    assert failing(Battle.objects.get(public_id=chat["id"]), slug="cyd-canary") is None


def test_redraw_of_a_pair_stays_among_its_candidates(models, member, monkeypatch):
    battle = explored_battle(member, models[:4], monkeypatch)
    make.model(slug="new-canary")
    left = battle.sides.get(position="left").model.slug
    assert failing(battle, slug=left).row.model.slug in {"ada-canary", "dee-canary"}
    battle.refresh_from_db()
    assert (battle.origin, battle.sides.filter(redrawn=True).count()) == (Battle.Origin.ROUTER, 1)


@pytest.mark.slow
def test_follow_ups_of_a_chat_keep_its_model(models, member, monkeypatch):
    ada, *others = models
    router = trained.hold(monkeypatch, {ada: 3.0, **dict.fromkeys(others, 0.0)})
    battle = Battle.objects.get(public_id=start(member).json()["battles"][0]["id"])
    router.strengths = {model.pk: 9.0 for model in others} | {ada.pk: 0.0}
    browser = make.browser(member)
    for turn in range(10):
        make.complete_answers(battle)
        path = f"/api/v1/battles/{battle.public_id}/messages/"
        response = browser.post(path, {"prompt": f"Number {turn}?"}, content_type="application/json")
        shown = response.json()
        assert response.status_code == 201, shown
        assert [side["model"]["id"] for side in shown["sides"]] == ["ada-canary"]
    assert RoutingDecision.objects.count() == 1
