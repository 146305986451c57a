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
    """Endpoint that scores 0.9 for "knife"."""
    provider = Provider.objects.create(name="Judge", base_url=fake_provider.base_url, needs_key=False)
    ModerationRule.objects.create(category="violence", kind="endpoint", patterns=["violence"], action="block")
    return ModerationEndpoint.objects.create(provider=provider, model="judge", seconds=5)


def rule(action: str, *lines: str, category: str = "weapons", **fields: object) -> ModerationRule:
    return ModerationRule.objects.create(category=category, action=action, patterns=list(lines), **fields)


def try_text(admin: Client, text: str, **more: str) -> str:
    answer = admin.post(TRY, {"text": text, **more})
    assert answer.status_code == 200
    return html.unescape(answer.text).partition("Result")[2]


def test_dry_run_shows_matches_and_stores_nothing(admin: Client):
    rule("block", "build a bomb", "poison")
    page = try_text(admin, "How to b\u200build a b-o-m-b?")
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
def test_dry_run_shows_outcome_of_action(admin: Client, action: str, outcome: str, is_in_queue: bool):
    rule(action, "bom+b", kind="expressions")
    page = try_text(admin, "A bommmb")
    assert "bom+b" in page
    assert outcome in page
    assert ("in the moderation queue" in page) == is_in_queue


def test_dry_run_of_harmless_text_finds_nothing(admin: Client):
    rule("block", "build a bomb")
    page = try_text(admin, "Build a house")
    assert "Sent without a warning." in page
    assert "No rule finds anything." in page


def test_dry_run_calls_endpoint_only_on_request(admin: Client, endpoint, fake_provider: FakeProvider):
    assert "No rule finds anything." in try_text(admin, "Draw a knife")
    assert fake_provider.moderated == []
    page = try_text(admin, "Draw a knife", ask_endpoint="on")
    assert "the endpoint’s score is 0.90, the rule begins at 0.50" in page
    assert "Refused because of “violence”." in page
    assert len(fake_provider.moderated) == 1
    assert not ModerationCase.objects.exists()


def test_dry_run_reports_failing_endpoint(admin: Client, endpoint, fake_provider: FakeProvider):
    ModerationEndpoint.objects.update(model="status-500")
    page = try_text(admin, "Draw a knife", ask_endpoint="on")
    assert "The moderation endpoint did not respond: The provider reported an error." in page


def test_dry_run_form_without_endpoint_offers_none(admin: Client):
    assert "ask_endpoint" not in admin.get(TRY).text
    assert "Try a text" in admin.get("/admin/battles/moderationrule/").text


def test_dry_run_needs_permission(client: Client, at_work: Client):
    assert at_work.get(TRY).status_code == 403
    assert Client().get(TRY).status_code == 302


def test_dry_run_needs_text(admin: Client):
    assert admin.post(TRY, {"text": ""}).status_code == 422
