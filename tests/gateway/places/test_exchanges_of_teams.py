"""Exchanges and decisions name their place, and only their person sees them."""

from typing import Any

import pytest
from django.db import IntegrityError, transaction

from accounts.actor import Actor
from accounts.models import ApiToken, Role, Team, User
from accounts.personal_data import personal_data_requested
from battles.models import RoutingDecision, Session
from gateway.models import Exchange
from models_registry.models import LanguageModel
from tests import make
from tests.fake_provider import FakeProvider
from tests.gateway.software import ASKED, openai_client, settled
from tests.waiting import wait_for

DECISIONS = "/api/v1/route/decisions/"


@pytest.fixture
def person() -> User:
    return make.user()


@pytest.fixture
def team(person: User) -> Team:
    return make.team(slug="physics", members={Role.MEMBER: [person]})


def decision(person: User, team: Team | None, **fields: Any) -> RoutingDecision:
    fields = {
        "query_type": "coding", "type_confidence": 1, "policy": "weights", "target": "model", "dial": 1,
        "propensity": 1, "reason": "weights", **fields,
    }  # fmt: skip
    return RoutingDecision.objects.create(person=Actor(user=person).key, team=team, **fields)


@pytest.mark.django_db(transaction=True)
def test_exchange_of_a_teams_token_names_the_team(fake_provider: FakeProvider, address: str, person: User, team: Team):
    make.model(at=fake_provider.base_url)
    for place in (team, None):
        with openai_client(address, make.token(person, team=place)) as client:
            client.chat.completions.create(model="auto", messages=ASKED)
            wait_for(settled)
    exchanges = Exchange.objects.order_by("pk").select_related("decision")
    assert [exchange.team for exchange in exchanges] == [team, None]
    assert [exchange.decision.team for exchange in exchanges if exchange.decision] == [team, None]
    parts = [part for _receiver, part in personal_data_requested.send(sender=User, user=person)]
    exported = next(part["gateway_exchanges"] for part in parts if "gateway_exchanges" in part)
    assert [row.get("team") for row in exported] == ["physics", None]
    ApiToken.objects.all().delete()
    assert list(Exchange.objects.order_by("pk").values_list("team", flat=True)) == [team.pk, None]


@pytest.mark.django_db
def test_decisions_of_a_team_are_their_persons(person: User, team: Team):
    model = make.model()
    in_team, personal = (decision(person, place, model=model) for place in (team, None))
    other = make.user()
    team.members.create(user=other, role=Role.OWNER)

    def listed(user: User, query: str = "", **headers: str) -> list[tuple[str, object]]:
        client = make.browser(Actor(user=user)) if not headers else make.browser(Actor(), headers=headers)
        return [(row["decision"], row.get("team")) for row in client.get(DECISIONS + query).json()["results"]]

    assert listed(person) == [(personal.public_id, None), (in_team.public_id, "physics")]
    assert listed(person, "?team=physics") == [(in_team.public_id, "physics")]
    assert listed(person, "?team=") == [(personal.public_id, None)]
    assert listed(other) == []
    of_team, own = make.token(person, team=team), make.token(person)
    assert listed(person, Authorization=f"Bearer {of_team}") == [(in_team.public_id, "physics")]
    assert listed(person, Authorization=f"Bearer {own}") == [(personal.public_id, None)]
    client = make.browser(Actor(), headers={"Authorization": f"Bearer {own}"})
    assert client.get(f"{DECISIONS}{in_team.public_id}/").status_code == 404


@pytest.mark.django_db
def test_route_decides_in_the_place_of_the_body(person: User, team: Team):
    make.model(slug="sites")
    make.team_model(team, slug="own", weight=9)
    client = make.browser(Actor(user=person))
    asked = {"prompt": "Hello", "models": ["own"]}
    assert client.post("/api/v1/route/", asked, "application/json").status_code == 400
    routed = client.post("/api/v1/route/", {**asked, "team": "physics"}, "application/json")
    assert (routed.status_code, routed.json()["model"]) == (200, "physics~own")
    assert RoutingDecision.objects.get().team == team
    assert client.post("/api/v1/route/", {**asked, "team": "nothing"}, "application/json").status_code == 404


@pytest.mark.django_db
def test_database_refuses_decisions_and_exchanges_of_two_places(person: User, team: Team):
    own, other = make.team_model(team), make.team()
    session = Session.objects.create(owner_user=person, team=team)
    token = ApiToken.issue(user=person, name="t", scopes=[], team=team)[0]
    of_site: LanguageModel = make.model()
    mixed: list[dict[str, Any]] = [{"model": own}, {"runner_up": own}, {"session": session}, {"token": token}]
    for fields in mixed:
        for place in (None, other):
            with pytest.raises(IntegrityError, match="a_decision_is_of_one_place"), transaction.atomic():
                decision(person, place, **{"model": of_site, **fields})
    made = decision(person, team, model=own, session=session, token=token)
    for fields in ({"token": token}, {"decision": made}):
        for place in (None, other):
            with pytest.raises(IntegrityError, match="an_exchange_is_of_one_place"), transaction.atomic():
                Exchange.objects.create(team=place, asked_model="auto", **fields)
    stored = Exchange.objects.create(team=team, asked_model="auto", token=token, decision=made)
    with pytest.raises(IntegrityError, match="an_exchange_is_of_one_place"), transaction.atomic():
        Exchange.objects.filter(pk=stored.pk).update(team=None)
