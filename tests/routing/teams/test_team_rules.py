"""Rules of auto mode that managers of a team make for it."""

import pytest
from django.test import Client

from accounts.actor import Actor
from accounts.models import AuditEntry, Team, User
from battles.auto.port import RoutingRequest, route
from battles.errors import NoModelAvailable
from battles.models import Category
from routing.models import Rule
from routing.teams import actions
from tests import make

pytestmark = pytest.mark.django_db
RULES = "/teams/physics/rules/"
SENT = {"note": "Optics", "is_active": "on", "category": "~optics", "language": "", "target": "model"}


@pytest.fixture
def owner() -> User:
    return make.user()


@pytest.fixture
def team(owner: User) -> Team:
    team = make.team(owner, slug="physics")
    Category.of_every_owner.create(team=team, slug="optics", name="Optics", phrases=["lens*"])
    return team


@pytest.fixture
def browser(owner: User, team: Team) -> Client:
    return make.browser(Actor(user=owner))


def policy(team: Team | None, prompt: str = "What does a lens do?") -> str:
    person = team.members.get(role="owner").user if team is not None else make.user()
    request = RoutingRequest((prompt,), team_id=None if team is None else team.pk)
    return route(request, Actor(user=person)).policy


def test_rule_decides_in_its_team_alone(team: Team, browser: Client):
    own, of_site = make.team_model(team), make.model()
    assert browser.post(f"{RULES}new/", {**SENT, "model": own.pk}).status_code == 302
    rule = Rule.objects.get(team=team)
    assert (rule.team, rule.model, rule.order) == (team, own, 10)
    page = browser.get(RULES).content.decode()
    assert "<bdi>Optics</bdi>" in page
    assert str(own) in page
    assert policy(team) == f"rule {rule.pk}"
    assert f"rule {rule.pk}" not in (policy(team, "Hello"), policy(None), policy(make.team()))
    assert browser.post(f"{RULES}{rule.pk}/", {**SENT, "model": of_site.pk}).status_code == 302
    assert Rule.objects.get(team=team).model == of_site


def test_models_of_other_places_cannot_be_chosen(team: Team, browser: Client):
    other = make.team_model(make.team())
    make.team_model(team, slug="bert")
    hidden = make.model(slug="bert")
    for model in (other, hidden):
        response = browser.post(f"{RULES}new/", {**SENT, "model": model.pk})
        assert response.status_code == 422
    pool = {**SENT, "target": "pool"}
    assert browser.post(f"{RULES}new/", {**pool, "pool": [other.slug]}).status_code == 422
    assert browser.post(f"{RULES}new/", {**pool, "category": "~waves", "pool": ["bert"]}).status_code == 422
    assert browser.post(f"{RULES}new/", {**pool, "pool": ["bert"]}).status_code == 302
    assert Rule.objects.get(team=team).pool == ["bert"]
    assert str(other) not in browser.get(f"{RULES}new/").content.decode()


def test_rules_are_ordered_switched_and_removed(team: Team, browser: Client):
    models = [make.model(), make.model()]
    for model in models:
        browser.post(f"{RULES}new/", {**SENT, "model": model.pk})
    first, second = Rule.objects.filter(team=team)
    assert policy(team) == f"rule {first.pk}"
    browser.post(f"{RULES}{second.pk}/up/")
    assert policy(team) == f"rule {second.pk}"
    browser.post(f"{RULES}{second.pk}/switch/", {"on": "0"})
    assert policy(team) == f"rule {first.pk}"
    browser.post(f"{RULES}{first.pk}/remove/")
    assert list(Rule.objects.filter(team=team)) == [second]
    done = AuditEntry.objects.filter(subject__startswith="team physics: ").order_by("pk")
    verbs = [action.removesuffix(" rule of auto mode") for action in done.values_list("action", flat=True)]
    assert verbs == ["add", "add", "move up", "switch off", "remove"]


def test_rule_without_its_model_is_not_switched_on(team: Team, browser: Client):
    rule = Rule.objects.create(team=team, target="model", is_active=False)
    response = browser.post(f"{RULES}{rule.pk}/switch/", {"on": "1"}, follow=True)
    assert "Choose the rule&#x27;s model first." in response.content.decode()
    assert not Rule.objects.get(team=team).is_active


def test_rules_of_others_are_not_found(team: Team, browser: Client):
    for place in (None, make.team()):
        rule = Rule.objects.create(team=place, target="arena")
        assert browser.get(f"{RULES}{rule.pk}/").status_code == 404
        assert browser.post(f"{RULES}{rule.pk}/remove/").status_code == 404
        assert Rule.objects.filter(pk=rule.pk).exists()


def test_number_of_rules_is_limited(team: Team, browser: Client, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(actions, "MAX_RULES", 0)
    assert browser.post(f"{RULES}new/", {**SENT, "target": "arena"}).status_code == 409
    with pytest.raises(NoModelAvailable):
        policy(team)
