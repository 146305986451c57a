"""Whoever writes rules sees what they make of a text before anybody else does; it leaves no trace."""

import html

import pytest
from django.test import Client

from accounts.models import AuditEntry
from battles.models import Action, ModerationCase, ModerationEndpoint, ModerationRule
from models_registry.models import Provider
from tests import make
from tests.fake_provider import FakeProvider

pytestmark = pytest.mark.django_db
TRY = "/admin/battles/moderationrule/try/"


@pytest.fixture
def admin(client: Client) -> Client:
    ModerationRule.objects.update(action=Action.OFF)
    client.force_login(make.user(is_staff=True, is_superuser=True))
    return client


@pytest.fixture
def endpoint(fake_provider: FakeProvider) -> ModerationEndpoint:
    """It says 0.9 to a knife."""
    provider = Provider.objects.create(name="Judge", base_url=fake_provider.base_url, needs_key=False)
    ModerationRule.objects.create(category="violence", kind="endpoint", patterns=["violence"], action="block")
    return ModerationEndpoint.objects.create(provider=provider, model="judge", seconds=5)


def rule(action: str, *lines: str, category: str = "weapons", **fields: object) -> ModerationRule:
    return ModerationRule.objects.create(category=category, action=action, patterns=list(lines), **fields)


def tried(admin: Client, text: str, **more: str) -> str:
    answer = admin.post(TRY, {"text": text, **more})
    assert answer.status_code == 200
    return html.unescape(answer.text).partition("Result")[2]


def test_a_rule_is_tried_on_the_text_as_it_is_read_and_leaves_no_trace(admin: Client):
    rule("block", "build a bomb", "poison")
    page = tried(admin, "How to b\u200build a b-o-m-b?")
    assert "Refused because of “weapons”. No model receives it." in page
    assert "build a bomb" in page
    assert "poison" not in page
    assert "how to build a b-o-m-b?" in page
    assert "how to build a bomb?" in page
    assert not ModerationCase.objects.exists()
    assert not AuditEntry.objects.exists()


@pytest.mark.parametrize(
    ("action", "outcome", "is_in_queue"),
    [
        ("off", "Sent without a warning.", False),
        ("log", "Sent without a warning.", True),
        ("warn", "Sent with a warning: weapons.", True),
        ("block", "Refused because of “weapons”.", True),
    ],
)
def test_what_would_happen_is_what_the_rules_action_says(admin: Client, action: str, outcome: str, is_in_queue: bool):
    rule(action, "bom+b", kind="expressions")
    page = tried(admin, "A bommmb")
    assert "bom+b" in page
    assert outcome in page
    assert ("in the moderation queue" in page) == is_in_queue


def test_a_text_in_which_nothing_is_found_would_be_sent(admin: Client):
    rule("block", "build a bomb")
    page = tried(admin, "Build a house")
    assert "Sent without a warning." in page
    assert "No rule finds anything." in page


def test_a_text_goes_to_the_endpoint_only_when_that_is_asked(admin: Client, endpoint, fake_provider: FakeProvider):
    assert "No rule finds anything." in tried(admin, "Draw a knife")
    assert fake_provider.moderated == []
    page = tried(admin, "Draw a knife", ask_endpoint="on")
    assert "the endpoint’s score is 0.90, the rule begins at 0.50" in page
    assert "Refused because of “violence”." in page
    assert len(fake_provider.moderated) == 1
    assert not ModerationCase.objects.exists()


def test_an_endpoint_that_does_not_answer_is_said_to_be_away(admin: Client, endpoint, fake_provider: FakeProvider):
    ModerationEndpoint.objects.update(model="status-500")
    page = tried(admin, "Draw a knife", ask_endpoint="on")
    assert "The moderation endpoint did not respond: The provider reported an error." in page


def test_without_an_endpoint_there_is_none_to_ask(admin: Client):
    assert "ask_endpoint" not in admin.get(TRY).text
    assert "Try a text" in admin.get("/admin/battles/moderationrule/").text


def test_rules_are_tried_by_those_who_may_see_them(client: Client, at_work: Client):
    assert at_work.get(TRY).status_code == 403
    assert Client().get(TRY).status_code == 302


def test_no_text_is_no_trial(admin: Client):
    assert admin.post(TRY, {"text": ""}).status_code == 422
