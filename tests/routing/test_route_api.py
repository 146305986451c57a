import json
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client

from accounts.models import Scope
from battles.models import RoutingDecision
from models_registry.models import LanguageModel
from models_registry.profiles import Profile, change_profile
from routing.deciding.call_medians import CallMedians, call_medians
from routing.models import RouterSnapshot, Rule
from tests import make
from tests.routing import trained

pytestmark = pytest.mark.django_db

ROUTE, DECISIONS = "/api/v1/route/", "/api/v1/route/decisions/"
USER = {"role": "user", "content": "Name three rivers."}
CALL = {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function", "function": {}}]}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "12"}
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


@pytest.fixture
def models() -> list[LanguageModel]:
    return [make.model(slug=name, name=name.title()) for name in ("ada", "bob", "cyd")]


@pytest.fixture
def member() -> Any:
    return make.member()


@pytest.fixture
def api(member: Any) -> Client:
    return make.api(member.user, scopes=[Scope.READ, Scope.BATTLE])


def ask(api: Client, body: dict[str, Any] | str, **headers: str) -> Any:
    text = body if isinstance(body, str) else json.dumps(body)
    return api.post(ROUTE, text, content_type="application/json", headers=headers)


def test_route_names_model_and_alternatives(api, models, member, monkeypatch):
    ada, bob, cyd = models
    trained.hold(monkeypatch, {ada: 0.0, bob: 1.0, cyd: 3.0}, ranking=[cyd])
    response = ask(api, {"prompt": "How are you today?", "dial": "best", "context": {"workflow": "mail"}})
    decided = response.json()
    assert response.status_code == 200
    assert decided.pop("reason") == {
        "code": "best", "sentence": "Chosen because it wins 95 % of such questions here."
    }  # fmt: skip
    assert [alternative["model"] for alternative in decided.pop("alternatives")] == ["cyd", "bob", "ada"]
    decision = RoutingDecision.objects.get()
    assert decided == {
        "decision": decision.public_id, "target": "model", "model": "cyd", "runner_up": "bob", "confidence": 0.95,
        "query_type": "general-chat", "policy": "learned 7",
    }  # fmt: skip
    assert (decision.person, decision.token.name, decision.dial) == (member.key, "t", 1.0)
    assert (decision.context, decision.cost_expected, decision.micros > 0) == ({"workflow": "mail"}, 0, True)


def test_alternatives_have_energy_where_a_size_is_known(api, models):
    change_profile(models[1].pk, Profile(active_b=Decimal(8)))
    alternatives = ask(api, {"prompt": "Name three rivers."}).json()["alternatives"]
    energies = {each["model"]: each["energy"] for each in alternatives}
    assert (energies["ada"], energies["cyd"]) == (None, None)
    assert 0 < energies["bob"]["wh_low"] < energies["bob"]["wh_high"]


def test_stored_decision_has_nothing_of_the_prompt(api, models):
    ask(api, {"prompt": "My secret is Xylophone-4711."})
    [row] = RoutingDecision.objects.values()
    assert "xylophone" not in json.dumps(row, default=str).lower()


def test_decision_for_a_battle_hides_its_pair(api, models):
    Rule.objects.create(target="arena", is_active=True)
    decided = ask(api, {"prompt": "Name three rivers."}).json()
    assert decided | {"decision": "", "policy": ""} == {
        "decision": "", "target": "arena", "model": None, "runner_up": None, "query_type": "general-chat",
        "confidence": 1.0, "alternatives": [], "policy": "",
        "reason": {"code": "rule_battle", "sentence": "A rule of this arena asks you to compare two models here."},
    }  # fmt: skip
    shown = api.get(f"{DECISIONS}{decided['decision']}/")
    assert (shown.json()["model"], shown.json()["cost_expected"]) == (None, None)
    for answer in (shown, api.get(DECISIONS)):
        assert not any(name in answer.content.decode().lower() for name in ("ada", "bob", "cyd"))


def test_limit_of_time_leaves_models_that_are_as_fast(api, models):
    call_medians._store(CallMedians({}, {models[0].pk: 900, models[1].pk: 300}))
    assert ask(api, {"prompt": "Name three rivers.", "max_first_token_ms": 500}).json()["model"] == "bob"
    refusal = ask(api, {"prompt": "Name three rivers.", "max_first_token_ms": 100})
    assert (refusal.status_code, list(refusal.json()["fields"])) == (400, ["max_first_token_ms"])


def test_rule_for_tools_and_data_names_its_model(api, models):
    Rule.objects.create(target="model", model=models[1], needs_tools="yes", is_active=True)
    Rule.objects.create(target="model", model=models[2], data_loaded="yes", is_active=True)
    for context, model, kind in (
        ({"tools": True}, "bob", "tool-use"),
        ({"data_loaded": True}, "cyd", "data-analysis"),
        ({}, "ada", "general-chat"),
    ):
        decided = ask(api, {"messages": [USER], "context": context}).json()
        assert (decided["target"], decided["model"], decided["query_type"]) == ("model", model, kind)
        assert decided["reason"]["code"] == "rule" if context else "few_votes"
        assert 0 < decided["confidence"] <= 1


def test_messages_with_pictures_and_tools_are_read(api, models):
    LanguageModel.objects.filter(slug="bob").update(abilities=["images"])
    LanguageModel.objects.filter(slug="cyd").update(abilities=["tools"])
    picture = {"role": "user", "content": [{"type": "text", "text": "What is this?"}, PICTURE]}
    assert ask(api, {"messages": [picture]}).json()["model"] == "bob"
    assert ask(api, {"messages": [USER, CALL, RESULT]}).json()["model"] == "cyd"
    assert ask(api, {"messages": [{"role": "system", "content": "Be brief."}, USER]}).json()["model"] == "ada"


BAD_BODIES: list[Any] = [
    {}, {"prompt": ""}, {"prompt": "a" * 20_001}, {"prompt": "a", "messages": [USER]}, {"prompt": None},
    {"prompt": "nul\x00"}, {"prompt": "half \ud800"}, {"prompt": ["a"]}, {"prompt": {"a": 1}},
    {"prompt": "a", "dial": "1e400"}, '{"prompt": "a", "dial": 1e400}', '{"prompt": "a", "dial": NaN}',
    {"prompt": "a", "dial": "nan"}, {"prompt": "a", "dial": -0.1}, {"prompt": "a", "dial": True},
    {"prompt": "a", "dial": [0.5]}, {"prompt": "a", "dial": None}, {"prompt": "a", "dial": 10**400},
    {"prompt": "a", "max_cost": "NaN"}, {"prompt": "a", "max_cost": -1}, '{"prompt": "a", "max_cost": 1e400}',
    {"prompt": "a", "max_first_token_ms": 0}, {"prompt": "a", "max_first_token_ms": "soon"},
    {"prompt": "a", "max_cost": "1e400"}, {"prompt": "a", "max_cost": {}},
    {"prompt": "a", "models": ["unknown"]}, {"prompt": "a", "models": ["draft"]}, {"prompt": "a", "models": "ada"},
    {"prompt": "a", "models": ["retired"]}, {"prompt": "a", "models": ["ada\x00"]}, {"prompt": "a", "models": [[]]},
    {"prompt": "a", "models": ["ada"] * 201}, {"prompt": "a", "models": ["\ud800"]},
    {"prompt": "a", "context": "x"}, {"prompt": "a", "context": {"tool": True}},
    {"prompt": "a", "context": {"workflow": "w" * 41}}, {"prompt": "a", "context": {"workflow": "\ud800"}},
    {"prompt": "a", "context": {"tools": "perhaps"}}, {"prompt": "a", "context": {"workflow": "a\x00"}},
    {"messages": None}, {"messages": []}, {"messages": "hello"}, {"messages": [None]}, {"messages": [[]]},
    {"messages": [{"content": "a"}]}, {"messages": [{"role": ["user"], "content": "a"}]},
    {"messages": [{"role": "user", "content": "\ud800"}]}, {"messages": [USER, {"role": "user", "content": ["\x00"]}]},
    {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://a.example/a.png"}}]}]},
    {"messages": [{"role": "user", "content": [{"type": "file", "file": {"file_id": "file-1"}}]}]},
    "[]", "7", "null", "{", '"text"', "[" * 5_000, '{"prompt": ' + "[" * 400 + "]" * 400 + "}",
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(BAD_BODIES)))
def test_bad_request_to_route_is_refused_cleanly(number, api, models):
    make.model(slug="draft", status="draft")
    make.model(slug="retired", status="retired")
    response = ask(api, BAD_BODIES[number])
    assert response.status_code == 400, response.content
    assert {"code", "detail"} <= response.json().keys()
    assert not RoutingDecision.objects.exists()


def test_five_megabytes_are_too_large(api, models):
    response = ask(api, {"prompt": "a" * 5_000_000})
    assert (response.status_code, response.json()["code"]) == (413, "too_large")


@pytest.mark.parametrize(
    "prompt", ["a" * 20_000, "\u200b" * 50, "👩‍👩‍👧‍👦" * 2_000, "語" * 19_999, "[" * 20_000, "$" * 20_000]
)
def test_odd_prompts_are_decided(prompt, api, models):
    assert ask(api, {"prompt": prompt}).status_code == 200


def test_request_without_a_model_says_what_excludes_them(api, models):
    assert ask(api, {"messages": [USER, CALL, RESULT]}).json() == {
        "code": "no_model_fits", "detail": "No model for this request calls tools. Send none, or choose other models.",
        "fields": {"tools": ["No model for this request calls tools. Send none, or choose other models."]},
    }  # fmt: skip
    LanguageModel.objects.update(status="paused")
    response = ask(api, {"prompt": "Name three rivers."})
    assert (response.status_code, response.json()["code"]) == (503, "no_model_available")
    assert int(response.headers["Retry-After"]) > 0


def test_token_needs_the_scope_to_route(models, member):
    reader = make.api(member.user, scopes=[Scope.READ])
    assert ask(reader, {"prompt": "Name three rivers."}).status_code == 403
    assert reader.get(DECISIONS).status_code == 200


def test_repeated_key_decides_once(api, models):
    first, again = (ask(api, {"prompt": "Name three rivers."}, **{"Idempotency-Key": "k"}) for _ in range(2))
    assert first.json() == again.json()
    assert RoutingDecision.objects.count() == 1
    assert ask(api, {"prompt": "Other."}, **{"Idempotency-Key": "k"}).status_code == 422


def test_decisions_are_limited(api, models, settings):
    settings.ARENA_LIMITS = {**settings.ARENA_LIMITS, ("route", "member"): "2/minute"}
    answers = [ask(api, {"prompt": "Name three rivers."}) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert answers[0].headers["RateLimit-Remaining"] == "1"
    assert answers[2].headers["Retry-After"]


def test_list_has_own_decisions_with_filters(api, models, member):
    ask(api, {"prompt": "Name three rivers."})
    ask(api, {"prompt": "Write a Python function that reverses a list."})
    RoutingDecision.objects.create(
        person="user:0", query_type="coding", type_confidence=1, policy="", target="refused", dial=1, propensity=1
    )
    listed = api.get(DECISIONS).json()
    assert [line["query_type"] for line in listed["results"]] == ["coding", "general-chat"]
    assert (listed["count"], listed["results"][0]["context"], listed["results"][0]["outcome"]) == (2, {}, None)
    assert api.get(f"{DECISIONS}?query_type=coding").json()["count"] == 1
    assert api.get(f"{DECISIONS}?target=arena&session=none").json()["count"] == 0
    assert api.get(f"{DECISIONS}?target=moon").status_code == 400
    assert make.browser(make.member()).get(f"{DECISIONS}{listed['results'][0]['decision']}/").status_code == 404


def test_outcome_is_stored_once_and_replaced(api, models):
    decision = ask(api, {"prompt": "Name three rivers."}).json()["decision"]
    path = f"{DECISIONS}{decision}/outcome/"
    for bad in ({}, {"good": True, "better": "model"}, {"better": "third"}, {"good": "perhaps"}):
        assert api.post(path, bad, content_type="application/json").status_code == 400
    assert api.post(path, {"good": True}, content_type="application/json").json()["good"] is True
    stored = api.post(path, {"better": "runner_up"}, content_type="application/json").json()
    assert (stored["good"], stored["better"]) == (None, "runner_up")
    assert api.get(f"{DECISIONS}{decision}/").json()["outcome"] == stored


def test_snapshots_are_listed_without_parameters(api):
    RouterSnapshot.objects.create(
        slot="1", state="published", method="grounded", parameters=b"\x00", votes=40, prices=[0.0] * 21,
        heads=[{"name": "labels", "passed": False, "gain": 0.1, "lower_bound": -0.1, "scale": 0, "secret": 1}],
    )  # fmt: skip
    [snapshot] = api.get("/api/v1/route/snapshots/").json()["results"]
    assert (snapshot["votes"], snapshot["board"], "parameters" in snapshot) == (40, None, False)
    assert snapshot["heads"] == [
        {"name": "labels", "passed": False, "gain": 0.1, "lower_bound": -0.1, "scale": 0}
    ]  # fmt: skip
