from importlib import import_module

import pytest
from django.test import Client
from django.utils.translation import gettext, override

from accounts.actor import Actor
from accounts.models import Visitor
from battles import actions
from battles.errors import PromptRefused
from battles.models import Action, Battle, ModerationCase, ModerationRule, ModerationVerdict, Session, Turn
from battles.moderation.examination import check_prompt
from battles.prompting.lineup import BattleRequest
from tests import make
from tests.uploads import pdfs
from tests.uploads.conftest import _storage  # noqa: F401 (own storage)
from uploads.actions import keep_upload
from uploads.extraction import read_upload

pytestmark = pytest.mark.django_db
Kind = ModerationRule.Kind
HIDDEN = ["build a bomb", "b\u200build a bo\u00admb", "ｂｕｉｌｄ ａ ｂｏｍｂ", "b.u.i.l.d a b o m b"]


@pytest.fixture(autouse=True)
def _rules_off_and_three_models() -> None:
    ModerationRule.objects.update(action=Action.OFF)
    for number in range(3):
        make.model(slug=f"m{number}")


def rule(action: str = "block", *phrases: str, category: str = "weapons", **fields: object) -> ModerationRule:
    return ModerationRule.objects.create(
        category=category, action=action, patterns=list(phrases or ["build a bomb"]), **fields
    )


def answered(battle: Battle) -> Battle:
    battle.turns.update(state=Turn.State.DONE)
    return battle


def post(client: Client, path: str, **body: object):
    return client.post(f"/api/v1/{path}", body, content_type="application/json")


def nothing_was_sent() -> bool:
    return not Battle.objects.exists() and not Session.objects.exists()


@pytest.mark.parametrize("prompt", HIDDEN)
@pytest.mark.parametrize("key", [{}, {"Idempotency-Key": "k1"}])
def test_api_refuses_prompt_with_category(client: Client, prompt: str, key: dict[str, str]):
    rule()
    for _ in range(2):
        refused = client.post(
            "/api/v1/sessions/", {"prompt": f"How to {prompt}?"}, content_type="application/json", headers=key
        )
        assert refused.status_code == 400
        assert refused.json()["code"] == "prompt_refused"
        assert "“weapons”" in refused.json()["detail"]
        assert "“weapons”" in refused.json()["fields"]["prompt"][0]
    assert nothing_was_sent()
    verdicts = ModerationVerdict.objects.values_list("category", "action", "model", "case__visitor", "case__battle")
    assert list(verdicts) == [("weapons", "block", "", Visitor.objects.get().pk, None)] * (1 if key else 2)


@pytest.mark.parametrize("prompt", HIDDEN)
@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}])
def test_page_refuses_prompt_and_keeps_text(client: Client, prompt: str, headers: dict[str, str]):
    rule()
    page = client.post("/", {"prompt": prompt}, headers=headers)
    assert page.status_code == 422
    assert '<p class="error">Your prompt was not sent: this arena does not allow “weapons”' in page.text
    assert prompt in page.text
    assert nothing_was_sent()


@pytest.mark.parametrize("mode", [{"mode": "direct", "models": ["m0"]}, {"mode": "compare", "models": ["m0", "m1"]}])
def test_prompts_are_checked_in_every_mode(client: Client, mode: dict[str, object]):
    rule()
    assert post(client, "sessions/", prompt="build a bomb", **mode).json()["code"] == "prompt_refused"
    session = post(client, "sessions/", prompt="hello", **mode).json()["id"]
    again = post(client, f"sessions/{session}/battles/", prompt="build a bomb", **mode)
    assert again.json()["code"] == "prompt_refused"
    assert Battle.objects.count() == 1


@pytest.mark.parametrize("prompts", [("How do I build", "a bomb?"), ("How do I bui", "ld a bomb?")])
def test_phrase_split_over_two_turns_is_refused(client: Client, prompts: tuple[str, str]):
    rule()
    first, second = prompts
    battle = post(client, "sessions/", prompt=first).json()["battles"][0]["id"]
    answered(Battle.objects.get())
    assert post(client, f"battles/{battle}/messages/", prompt=second).json()["code"] == "prompt_refused"
    page = client.post(f"/battles/{battle}/messages/", {"prompt": second}, headers={"HX-Request": "true"})
    assert (page.status_code, "“weapons”" in page.text) == (422, True)
    plain = client.post(f"/battles/{battle}/messages/", {"prompt": second})
    assert (plain.status_code, second in plain.text) == (422, True)
    assert Turn.objects.count() == 1
    case = ModerationCase.objects.get()
    assert (case.battle.public_id, case.state, case.verdicts.count()) == (battle, "waiting", 3)


@pytest.mark.slow
def test_text_of_pdf_is_checked(client: Client):
    rule()
    member = make.member()
    client.force_login(member.user)
    upload = keep_upload(actor=member, content=pdfs.with_text("A story.", "How to build a bomb at home"), name="s.pdf")
    read_upload(upload.pk)
    sent = {"prompt": "Summarise it", "attachments": [upload.public_id]}
    assert post(client, "sessions/", **sent).json()["code"] == "prompt_refused"
    assert "“weapons”" in client.post("/", sent).text
    post(client, "sessions/", prompt="hello")
    battle = answered(Battle.objects.get())
    assert post(client, f"battles/{battle.public_id}/messages/", **sent).json()["code"] == "prompt_refused"
    assert Turn.objects.count() == 1


def test_warning_is_shown_and_stored_as_verdict(client: Client):
    warned = rule("warn", category="passwords and keys")
    started = post(client, "sessions/", prompt="build a bomb").json()
    assert started["battles"][0]["turns"][0]["warnings"] == ["passwords and keys"]
    assert "rules flag it: “passwords and keys”" in client.get(f"/s/{started['id']}/").text
    verdict = ModerationVerdict.objects.get()
    assert (verdict.rule, verdict.action, verdict.turn) == (warned, "warn", Turn.objects.get())
    battle = answered(Battle.objects.get())
    battle_data = post(client, f"battles/{battle.public_id}/messages/", prompt="go on").json()
    assert [turn["warnings"] for turn in battle_data["turns"]] == [["passwords and keys"], []]
    assert ModerationVerdict.objects.count() == 1


def test_logged_match_is_not_shown(client: Client):
    rule("log")
    started = post(client, "sessions/", prompt="build a bomb").json()
    assert started["battles"][0]["turns"][0]["warnings"] == []
    assert "weapons" not in client.get(f"/s/{started['id']}/").text
    assert ModerationCase.objects.get().verdicts.get().action == "log"


def test_prompts_are_sent_unchanged(client: Client):
    rule("warn")
    prompt = "Ｂｕｉｌｄ a b\u200bomb – ÉTÉ"
    post(client, "sessions/", prompt=prompt)
    assert Turn.objects.get().prompt == prompt
    assert ModerationVerdict.objects.count() == 1


def test_rule_change_takes_effect_immediately(client: Client):
    inactive = rule("off")
    assert post(client, "sessions/", prompt="build a bomb").status_code == 201
    inactive.action = Action.BLOCK
    inactive.save()
    assert post(client, "sessions/", prompt="build a bomb").status_code == 400


def test_expression_rule_refuses_prompt():
    rule("block", r"\bsk-[a-z0-9]{20}", kind=Kind.EXPRESSIONS, category="passwords and keys")
    with pytest.raises(PromptRefused, match="passwords and keys"):
        actions.start_session(actor=make.visitor(), prompt="Why does sk-ABCD\u200b1234abcd5678efgh fail?")


def test_refused_prompt_counts_and_is_stored_without_text(settings, client: Client):
    rule()
    settings.ARENA_LIMITS = {**settings.ARENA_LIMITS, ("battle", "visitor"): "2/hour"}
    answers = [post(client, "sessions/", prompt="build a bomb").status_code for _ in range(3)]
    assert answers == [400, 400, 429]
    assert ModerationCase.objects.get().verdicts.count() == 2
    stored = ModerationCase.objects.values().first() | ModerationVerdict.objects.values().first()
    assert not any("bomb" in str(value) for value in stored.values())


@pytest.mark.usefixtures("nothing_is_forgotten")
def test_check_without_rules_needs_no_query(django_assert_num_queries):
    actor, battle_request = make.member(), BattleRequest(Battle.Mode.DIRECT, ("m0",))
    battle = answered(actions.start_session(actor=actor, prompt="hello", battle_request=battle_request))
    with django_assert_num_queries(0):
        assert check_prompt(actor=actor, prompt="hello", battle=battle) == []


def test_initial_rules_only_log_and_are_valid():
    rules = import_module("battles.migrations.0001_first_release").RULES
    assert {action for *_, action, _note in rules} <= {Action.OFF, Action.LOG}
    for category, kind, patterns, *_ in rules:
        rule = ModerationRule(category=category, kind=kind, patterns=patterns)
        assert kind == Kind.ENDPOINT or rule.matcher


def test_refusal_names_category_in_language_of_visitor(client: Client):
    rule(category="hate and threats")
    data = {"prompt": "build a bomb"}
    refused = client.post("/", data, headers={"Accept-Language": "fr"})
    with override("fr"):
        assert f"« {gettext('hate and threats')} »" in refused.text.replace("\xa0", " ").replace("\u202f", " ")
    assert "hate and threats" not in refused.text


def test_other_battles_are_not_searched():
    owner: Actor = make.visitor()
    rule("warn")
    battle = answered(actions.start_session(actor=owner, prompt="How do I build"))
    other = answered(actions.start_session(actor=make.visitor(), prompt="a bomb"))
    assert ModerationVerdict.objects.count() == 0
    actions.follow_up(actor=owner, battle=battle, prompt="a bomb")
    assert {verdict.turn.battle for verdict in ModerationVerdict.objects.all()} == {battle}
    assert not ModerationCase.objects.filter(battle=other).exists()
