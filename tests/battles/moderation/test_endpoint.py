"""An endpoint of the operator's own choice judges prompts, by thresholds; while it is away a setting decides."""

import logging

import pytest
from django.db import IntegrityError, transaction

from battles import actions
from battles.errors import NotExamined, PromptRefused
from battles.models import Action, Battle, ModerationEndpoint, ModerationRule, ModerationVerdict, Turn
from battles.moderation.examination import examine
from models_registry.models import Provider
from tests import make
from tests.fake_provider import FakeProvider

pytestmark = pytest.mark.django_db
KEY = "sk-moderation-0123456789"
FAULTS = ["silent", "html", "empty", "redirect", "status-401", "status-500"]


@pytest.fixture
def endpoint(fake_provider: FakeProvider) -> ModerationEndpoint:
    """It says `violence` of a knife; from 0.5 on prompts are refused, and from 0.01 on hate is noted."""
    ModerationRule.objects.update(action=Action.OFF)
    for number in range(3):
        make.model(slug=f"m{number}")
    provider = Provider(name="Judge", base_url=fake_provider.base_url, api_key_env="")
    provider.store_key(KEY)
    provider.save()
    rules = [("depictions of violence", "violence", 0.5, "block"), ("hatred", "hate", 0.01, "log")]
    for category, name, threshold, action in rules:
        ModerationRule.objects.create(
            category=category, kind="endpoint", patterns=[name], threshold=threshold, action=action
        )
    return ModerationEndpoint.objects.create(provider=provider, model="judge", seconds=15)


def fails(fault: str, **fields: object) -> None:
    """Only silence has to be waited for."""
    ModerationEndpoint.objects.update(model=fault, seconds=0.5 if fault == "silent" else 15, **fields)


def start(prompt: str) -> Battle:
    return actions.start_session(actor=make.visitor(), prompt=prompt)


def test_what_reaches_its_threshold_is_refused_and_kept_with_score_model_and_version(endpoint, fake_provider):
    with pytest.raises(PromptRefused, match="depictions of violence"):
        start("Draw a kni\u200bfe")
    assert fake_provider.moderated == [{"model": "judge", "input": ["Draw a knife"]}]
    said = ModerationVerdict.objects.order_by("category").values_list("category", "action", "score", "model", "version")
    assert list(said) == [
        ("depictions of violence", "block", 0.9, "judge", "judge-2026-11"),
        ("hatred", "log", 0.02, "judge", "judge-2026-11"),
    ]


def test_a_follow_up_is_judged_with_what_was_said_before(endpoint, fake_provider):
    battle = start("Draw a kni")
    battle.turns.update(state=Turn.State.DONE)
    actor = make.visitor()
    actions.follow_up(actor=actor, battle=battle, prompt="Go on")
    assert fake_provider.moderated[-1]["input"] == ["Draw a kni\nGo on"]


def test_long_texts_are_judged_in_pieces_that_overlap(endpoint, fake_provider):
    battle = start("x" * 19_997)
    with pytest.raises(PromptRefused):
        examine(actor=make.visitor(), prompt="a knife", battle=battle)
    assert [len(piece) for piece in fake_provider.moderated[-1]["input"]] == [20_000, 205]


def test_an_endpoint_that_only_says_yes_or_no_will_do(endpoint):
    ModerationEndpoint.objects.update(model="yes-or-no")
    start("Draw a spoon")
    with pytest.raises(PromptRefused):
        start("Draw a knife")


@pytest.mark.parametrize("fault", FAULTS)
def test_while_it_is_away_battles_go_on_by_the_rules_alone_and_the_log_says_so(endpoint, caplog, fault: str):
    fails(fault)
    with caplog.at_level(logging.DEBUG):
        start("Draw a knife")
    assert "the moderation endpoint judges nothing" in caplog.text
    assert KEY not in caplog.text


@pytest.mark.parametrize("fault", FAULTS)
def test_or_no_battle_begins_if_the_operator_wants_that(endpoint, fault: str):
    fails(fault, refuses_when_away=True)
    with pytest.raises(NotExamined) as refused:
        start("Draw a spoon")
    assert (refused.value.http_status, refused.value.retry_after) == (503, 10)
    assert not Battle.objects.exists()


def test_after_a_failure_nobody_waits_for_it_for_some_seconds(endpoint, fake_provider):
    ModerationEndpoint.objects.update(model="status-500")
    for _ in range(3):
        start("Draw a knife")
    assert len(fake_provider.moderated) == 1


@pytest.mark.parametrize("address", ["http://169.254.169.254/v1", "http://127.0.0.1:1/v1"])
def test_its_address_is_a_providers_and_has_to_keep_to_their_rules(endpoint, settings, caplog, address: str):
    settings.ARENA_ALLOW_PRIVATE_PROVIDERS = False
    Provider.objects.filter(pk=endpoint.provider_id).update(base_url=address)
    assert examine(actor=make.visitor(), prompt="Draw a knife") == []
    assert "address_refused" in caplog.text


def test_no_rule_asks_for_it_then_nobody_asks_it(endpoint, fake_provider):
    ModerationRule.objects.update(action=Action.OFF)
    start("Draw a knife")
    assert fake_provider.moderated == []


def test_what_the_arenas_own_rules_refuse_is_told_to_nobody(endpoint, fake_provider):
    ModerationRule.objects.create(category="weapons", action="block", patterns=["knife"])
    with pytest.raises(PromptRefused, match="weapons"):
        start("Draw a knife")
    assert fake_provider.moderated == []


def test_there_is_one_endpoint(endpoint):
    for another in ({}, {"pk": 2}):
        with pytest.raises(IntegrityError), transaction.atomic():
            ModerationEndpoint.objects.create(provider=endpoint.provider, **another)
