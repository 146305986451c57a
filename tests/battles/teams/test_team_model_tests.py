"""Managers test their team's models; the team pays."""

import re

import pytest

from accounts.models import AuditEntry, Role, Team, User
from battles.models import Call
from models_registry.models import Charge, LanguageModel, Price
from tests import make
from tests.fake_provider import FakeProvider
from tests.site import Reader
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def team() -> Team:
    members = {Role.MANAGER: [make.user("manager@example.org")], Role.MEMBER: [make.user("member@example.org")]}
    return make.team(slug="physics", members=members)


def sign_in(reader: Reader, email: str) -> Reader:
    reader.post("/accounts/login/", data={"login": email, "password": "a-good-password"})
    return reader


def address(model: LanguageModel) -> str:
    return f"/teams/physics/models/{model.pk}/test/"


def test_manager_reads_the_answer_and_the_team_pays(reader: Reader, fake_provider: FakeProvider, team: Team):
    model = make.team_model(team, "honest", at=fake_provider.base_url)
    Price.objects.create(model=model, input_per_million=10, output_per_million=100)
    manager = sign_in(reader, "manager@example.org")
    assert "The team pays" in manager.get(address(model)).text
    sent = manager.post(address(model), data={"prompt": "one two three"})
    assert sent.status_code == 302, sent.text
    page = sent.headers["Location"]
    stream = re.search(r'data-stream="([^"]+)"', manager.get(page).text)
    for _ in manager.follow(stream[1]) if stream else ():
        pass
    wait_for(lambda: "The model answered" in manager.get(page).text)
    assert "one two three </pre>" in manager.get(page).text
    call, charge = Call.objects.get(), Charge.objects.get()
    person = User.objects.get(email="manager@example.org")
    assert (call.purpose, call.model) == (Call.Purpose.TEST, model)
    assert (charge.team, charge.person, charge.site_pays) == (team, f"user:{person.pk}", False)
    assert AuditEntry.objects.get(action="test model").subject == f"team physics: {model}"

    other = make.team_model(team, "honest", at=fake_provider.base_url)
    assert manager.get(page.replace(f"/{model.pk}/", f"/{other.pk}/")).status_code == 404


def test_only_managers_test_models_of_their_team(reader: Reader, team: Team):
    own, foreign, of_site = make.team_model(team), make.team_model(make.team()), make.model()
    manager = sign_in(reader, "manager@example.org")
    for model in (foreign, of_site):
        assert manager.get(address(model)).status_code == 404
        assert manager.post(address(model), data={"prompt": "Hello"}).status_code == 404
    assert manager.post(address(own), data={"prompt": ""}).status_code == 422


def test_member_does_not_test_models(reader: Reader, team: Team):
    own = make.team_model(team)
    assert sign_in(reader, "member@example.org").get(address(own)).status_code == 403
    assert not Call.objects.exists()


def test_budget_of_the_team_ends_tests(reader: Reader, fake_provider: FakeProvider, team: Team):
    model = make.team_model(team, "honest", at=fake_provider.base_url)
    Price.objects.create(model=model, input_per_million=10, output_per_million=100)
    Team.objects.filter(pk=team.pk).update(month_budget=0)
    manager = sign_in(reader, "manager@example.org")
    page = manager.post(address(model), data={"prompt": "one two three"}).headers["Location"]
    wait_for(lambda: "The budget for this model is used up." in manager.get(page).text)
    assert not Charge.objects.exists()
