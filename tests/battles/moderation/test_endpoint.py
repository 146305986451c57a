import logging

import pytest
from django.db import IntegrityError, transaction

from battles import actions
from battles.errors import NotExamined, PromptRefused
from battles.models import Action, Battle, ModerationEndpoint, ModerationRule, ModerationVerdict, Turn
from battles.moderation.examination import check_prompt
from models_registry.models import Provider
from tests import make
from tests.fake_provider import FakeProvider

pytestmark = pytest.mark.django_db
KEY = "sk-moderation-0123456789"
FAULTS = ["silent", "html", "empty", "redirect", "status-401", "status-500"]


@pytest.fixture
def endpoint(fake_provider: FakeProvider) -> ModerationEndpoint:
    """Endpoint that scores "knife" as violence; rules refuse violence from 0.5 and log hate from 0.01."""
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


def make_endpoint_fail(fault: str, **fields: object) -> None:
    ModerationEndpoint.objects.update(model=fault, seconds=0.5 if fault == "silent" else 15, **fields)


def start(prompt: str) -> Battle:
    return actions.start_session(actor=make.visitor(), prompt=prompt)


def test_refusal_stores_score_model_and_version(endpoint, fake_provider):
    with pytest.raises(PromptRefused, match="depictions of violence"):
        start("Draw a kni\u200bfe")
    assert fake_provider.moderated == [{"model": "judge", "input": ["Draw a knife"]}]
    rows = ModerationVerdict.objects.order_by("category").values_list("category", "action", "score", "model", "version")
    assert list(rows) == [
        ("depictions of violence", "block", 0.9, "judge", "judge-2026-11"),
        ("hatred", "log", 0.02, "judge", "judge-2026-11"),
    ]


def test_follow_up_is_scored_with_earlier_prompts(endpoint, fake_provider):
    battle = start("Draw a kni")
    battle.turns.update(state=Turn.State.DONE)
    actor = make.visitor()
    actions.follow_up(actor=actor, battle=battle, prompt="Go on")
    assert fake_provider.moderated[-1]["input"] == ["Draw a kni\nGo on"]


def test_long_text_is_scored_in_overlapping_pieces(endpoint, fake_provider):
    battle = start("x" * 19_997)
    with pytest.raises(PromptRefused):
        check_prompt(actor=make.visitor(), prompt="a knife", battle=battle)
    assert [len(piece) for piece in fake_provider.moderated[-1]["input"]] == [20_000, 205]


def test_endpoint_without_scores_is_supported(endpoint):
    ModerationEndpoint.objects.update(model="yes-or-no")
    start("Draw a spoon")
    with pytest.raises(PromptRefused):
        start("Draw a knife")


@pytest.mark.parametrize("fault", FAULTS)
def test_failing_endpoint_is_skipped_and_logged(endpoint, caplog, fault: str):
    make_endpoint_fail(fault)
    with caplog.at_level(logging.DEBUG):
        start("Draw a knife")
    assert "the moderation endpoint did not score a prompt" in caplog.text
    assert KEY not in caplog.text


@pytest.mark.parametrize("fault", FAULTS)
def test_failing_endpoint_refuses_battles_by_setting(endpoint, fault: str):
    make_endpoint_fail(fault, refuses_when_away=True)
    with pytest.raises(NotExamined) as refused:
        start("Draw a spoon")
    assert (refused.value.http_status, refused.value.retry_after) == (503, 10)
    assert not Battle.objects.exists()


def test_failed_endpoint_is_not_called_for_some_seconds(endpoint, fake_provider):
    ModerationEndpoint.objects.update(model="status-500")
    for _ in range(3):
        start("Draw a knife")
    assert len(fake_provider.moderated) == 1


@pytest.mark.parametrize("address", ["http://169.254.169.254/v1", "http://127.0.0.1:1/v1"])
def test_endpoint_address_obeys_provider_rules(endpoint, settings, caplog, address: str):
    settings.ARENA_ALLOW_PRIVATE_PROVIDERS = False
    Provider.objects.filter(pk=endpoint.provider_id).update(base_url=address)
    assert check_prompt(actor=make.visitor(), prompt="Draw a knife") == []
    assert "address_refused" in caplog.text


def test_endpoint_is_not_called_without_scored_rule(endpoint, fake_provider):
    ModerationRule.objects.update(action=Action.OFF)
    start("Draw a knife")
    assert fake_provider.moderated == []


def test_prompt_refused_by_rule_skips_endpoint(endpoint, fake_provider):
    ModerationRule.objects.create(category="weapons", action="block", patterns=["knife"])
    with pytest.raises(PromptRefused, match="weapons"):
        start("Draw a knife")
    assert fake_provider.moderated == []


def test_database_allows_one_endpoint(endpoint):
    for another in ({}, {"pk": 2}):
        with pytest.raises(IntegrityError), transaction.atomic():
            ModerationEndpoint.objects.create(provider=endpoint.provider, **another)
