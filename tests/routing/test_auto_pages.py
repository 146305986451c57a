"""Auto mode on the pages: the dial, the reason under the answer, and the comparison with the second best."""

import re
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client

from battles.models import Battle, RoutingDecision
from models_registry.models import LanguageModel
from models_registry.profiles import Profile, change_profile
from tests import make
from tests.routing import trained

pytestmark = pytest.mark.django_db


@pytest.fixture
def models() -> list[LanguageModel]:
    return [make.model(slug=name, name=f"{name.title()} Canary") for name in ("ada", "bob", "cyd")]


@pytest.fixture
def browser() -> Client:
    return make.browser(make.member())


def ask(browser: Client, **fields: str) -> Battle:
    response = browser.post("/", {"prompt": "How are you today?", "mode": "auto", **fields})
    assert response.status_code == 303, response.text
    return Battle.objects.latest("pk")


def answered(battle: Battle) -> str:
    make.complete_answers(battle)
    return f"/s/{battle.session.public_id}/"


def text_of(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def test_form_of_auto_mode_has_a_dial(browser, models):
    page = browser.get("/?mode=auto").text
    assert re.findall(r'name="dial" value="(\w+)"( checked)?', page) == [
        ("cheap", ""), ("balanced", " checked"), ("best", "")
    ]  # fmt: skip
    refused = browser.post("/", {"prompt": "", "mode": "auto", "dial": "cheap"})
    assert refused.status_code == 422
    assert 'value="cheap" checked' in refused.text


def test_answer_is_followed_by_reason_and_alternatives(browser, models, monkeypatch):
    ada, bob, cyd = models
    trained.hold(monkeypatch, {ada: 0.0, bob: 1.0, cyd: 3.0}, ranking=[cyd])
    battle = ask(browser, dial="best")
    assert RoutingDecision.objects.get().dial == 1
    page = text_of(browser.get(answered(battle)).text)
    assert "Chosen because it wins 95 % of such questions here." in page
    assert re.search(r"Cyd Canary chosen 95 % \$0 unknown Bob Canary 73 % \$0 unknown Ada Canary 50 %", page)


def test_picked_models_limit_the_choice(browser, models, monkeypatch):
    ada, bob, cyd = models
    trained.hold(monkeypatch, {ada: 0.0, bob: 1.0, cyd: 3.0}, ranking=[cyd])
    ask(browser, dial="best", models="ada")
    assert Battle.objects.get().sides.get().model == ada
    refused = browser.post("/", {"prompt": "", "mode": "auto", "models": ["ada"]})
    assert re.findall(r'name="models" value="(\w+)" checked', refused.text) == ["ada"]


def test_comparison_asks_the_second_best_the_same(browser, models, monkeypatch):
    ada, bob, cyd = models
    trained.hold(monkeypatch, {ada: 0.0, bob: 1.0, cyd: 3.0}, ranking=[cyd])
    battle = ask(browser)
    session = f"/s/{battle.session.public_id}/"
    assert "second best" not in browser.get(session).text  # there is no answer yet
    [form] = re.findall(
        r'<form method="post" action="([^"]+/battles/)">(.*?)</form>', browser.get(answered(battle)).text, re.S
    )
    sent: dict[str, Any] = {"mode": "side_by_side", "models": re.findall(r'name="models" value="(\w+)"', form[1])}
    assert sent["models"] == ["cyd", "bob"]
    [sent["prompt"]] = re.findall(r"<textarea[^>]*>\n(.*?)</textarea>", form[1], re.S)
    assert browser.post(form[0], sent).status_code == 303
    compared = Battle.objects.latest("pk")
    assert (compared.mode, compared.origin, compared.turns.get().prompt) == (
        "side_by_side", Battle.Origin.DRAW, "How are you today?"
    )  # fmt: skip


def test_unsure_decision_would_rather_ask(browser, models, monkeypatch):
    trained.hold(monkeypatch, dict.fromkeys(models, 1.0))
    monkeypatch.setattr("routing.deciding.learned_choice.may_explore", lambda **_: False)
    page = browser.get(answered(ask(browser))).text
    assert "It would rather ask you." in page
    assert "Compare it with the second best" in page


def test_page_of_an_undecided_battle_names_nobody(browser, models, monkeypatch):
    for model in models:
        change_profile(model.pk, Profile(active_b=Decimal(8)))
    trained.hold(monkeypatch, dict.fromkeys(models, 1.0))
    monkeypatch.setattr("routing.deciding.learned_choice.may_explore", lambda **_: True)
    battle = ask(browser)
    page = browser.get(answered(battle)).text
    assert "Two models may be the best for this question. Your vote decides." in page
    assert not re.search("canary|second best|energy|<details>.*Expected price", page, re.IGNORECASE)
    voted = browser.post(f"/battles/{battle.public_id}/vote/", {"choice": "left"}, follow=True).text
    assert "Expected price" in voted
    assert re.search(r"Estimated energy</th>.*\d\sWh\s", voted, re.DOTALL)
    assert "second best" not in voted


def test_next_question_of_a_session_is_auto_again(browser, models):
    battle = ask(browser, dial="cheap")
    page = browser.get(answered(battle)).text
    assert '<input type="hidden" name="mode" value="auto">' in page
    assert 'value="cheap" checked' in page
    path = f"/s/{battle.session.public_id}/battles/"
    assert browser.post(path, {"prompt": "And now?", "mode": "auto", "dial": "best"}).status_code == 303
    assert list(RoutingDecision.objects.order_by("pk").values_list("dial", flat=True)) == [0.2, 1.0]


def test_arena_with_one_model_can_be_asked(browser):
    make.model(slug="ada", name="Ada Canary")
    assert "Ada Canary" in browser.get(answered(ask(browser))).text
    assert RoutingDecision.objects.get().reason == "only_one"


def test_arena_without_an_available_model_says_so(browser, models):
    LanguageModel.objects.update(status="paused")
    response = browser.post("/", {"prompt": "Hello", "mode": "auto"})
    assert (response.status_code, "No model that fits is available" in response.text) == (503, True)
