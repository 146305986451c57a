"""Money of a team's own models: neither the site's nor the person's."""

from typing import Any

import pytest
from django.test import Client

from accounts.actor import Actor
from accounts.models import Role, Team, User
from battles.actions import start_session
from battles.auto.options import AutoOptions
from battles.models import Battle
from battles.prompting.lineup import BattleRequest
from battles.worker.runner import Engine
from models_registry import spending
from models_registry.models import Charge, LanguageModel
from models_registry.models.ledger import provider_account
from models_registry.versions import set_price
from tests import make
from tests.fake_provider import FakeProvider
from tests.models_registry.paid_models import A_CENT_A_TOKEN, accounts, cents, paid_model

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _no_money_of_the_site(settings: Any) -> None:
    settings.ARENA_BUDGETS = dict.fromkeys(settings.ARENA_BUDGETS, cents(0))


@pytest.fixture
def person() -> User:
    return make.user()


@pytest.fixture
def team(person: User) -> Team:
    return make.team(members={Role.MEMBER: [person]})


def own_model(team: Team, name: str, fake_provider: FakeProvider) -> LanguageModel:
    model = make.team_model(team, name, at=fake_provider.base_url, parameters={"max_tokens": 3})
    set_price(model, A_CENT_A_TOKEN / 100, A_CENT_A_TOKEN)
    return model


def start(person: User, team: Team, **wish: Any) -> Battle:
    actor = Actor(user=User.signed_in.get(pk=person.pk))
    return start_session(actor=actor, prompt="one two three", place=team, battle_request=BattleRequest(**wish))


def names(team: Team, person: User, model: LanguageModel) -> set[str]:
    of_team = f"team:{team.pk}"
    return {of_team, f"{of_team}/month", f"{of_team}/user:{person.pk}", provider_account(model.provider_id)}


@pytest.mark.parametrize("mode", ["blind", "direct", "auto"])
def test_own_models_cost_the_site_nothing(
    mode: str, person: User, team: Team, fake_provider: FakeProvider, engine: Engine
):
    models = [own_model(team, f"honest-{name}", fake_provider) for name in "ab"]
    wishes: dict[str, dict[str, Any]] = {
        "blind": {},
        "direct": {"mode": Battle.Mode.DIRECT, "models": (models[0].slug,)},
        "auto": {"auto": AutoOptions()},
    }
    engine.answer(start(person, team, **wishes[mode]).turns.get().pk)
    balances = accounts()
    assert balances.keys() == names(team, person, models[0])
    assert all(reserved == 0 < spent for reserved, spent in balances.values())


def test_pool_with_a_model_of_the_site_costs_the_person(person: User, team: Team, fake_provider: FakeProvider):
    own_model(team, "honest", fake_provider)
    paid_model(at=fake_provider.base_url)
    client = make.browser(Actor(user=person))
    response = client.post("/api/v1/sessions/", {"prompt": "one", "team": team.slug}, "application/json")
    assert (response.status_code, response.json()["code"]) == (503, "models_over_budget")


def test_own_models_are_drawn_without_money_of_the_site(
    person: User, team: Team, fake_provider: FakeProvider, settings: Any
):
    settings.ARENA_BUDGETS = {**settings.ARENA_BUDGETS, "member": None, "site": cents(3)}
    own = {own_model(team, f"honest-{name}", fake_provider).pk for name in "ab"}
    make.model(at=fake_provider.base_url, weight=0.001)
    site = paid_model(at=fake_provider.base_url, cap=1000)
    for _ in range(5):
        sides = set(start(person, team).sides.values_list("model", flat=True))
        assert site.pk not in sides
        assert sides & own


def test_probe_of_a_teams_model_is_paid_by_the_team(team: Team, fake_provider: FakeProvider):
    model = own_model(team, "honest", fake_provider)
    charge = spending.bill(model, [{"role": "user", "content": "one"}], person="")
    assert charge is not None
    [reserved] = spending.reserve([charge])
    spending.settle({reserved.pk: cents(1)})
    of_team = f"team:{team.pk}"
    assert accounts() == dict.fromkeys([of_team, f"{of_team}/month", provider_account(model.provider_id)], (0, 1))
    assert {account.name for account in Charge.objects.get().accounts} == accounts().keys()


def test_gateway_pays_for_own_models_by_the_team(team: Team, person: User, fake_provider: FakeProvider):
    model = own_model(team, "honest", fake_provider)
    token = make.token(person, team=team)
    asked = {"prompt": "Hello", "models": [model.slug]}
    client = Client(headers={"Authorization": f"Bearer {token}"})
    assert client.post("/api/v1/route/", asked, "application/json").status_code == 200
