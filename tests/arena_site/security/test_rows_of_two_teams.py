"""The database refuses rows that mix two teams, or a team and the site; each table with a team has its statements."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from django.apps import apps
from django.db import DatabaseError, connection, models, transaction

from accounts.actor import Actor
from accounts.models import ApiToken, Scope, Team, User
from battles.models import Answer, Battle, ModerationEndpoint, Session, StarRating, Vote
from models_registry.models import Charge, LanguageModel
from routing.models import Rule
from tests import make
from tests.models_registry.paid_models import cents, paid_model, set_price

pytestmark = pytest.mark.django_db
REFUSED = {
    "a_model_stays_with_its_owner": "UPDATE models_registry_languagemodel SET team_id = {b} WHERE id = {model_of_a}",
    "a_models_provider_is_its_owners":
        "UPDATE models_registry_languagemodel SET provider_id = {provider_of_b} WHERE id = {model_of_a}",
    "a_provider_stays_with_its_owner": "UPDATE models_registry_provider SET team_id = NULL WHERE id = {provider_of_b}",
    "a_session_stays_in_its_place": "UPDATE battles_session SET team_id = {b} WHERE id = {session_of_a}",
    "a_battle_stays_in_its_place":
        "UPDATE battles_battle SET session_id = {session_of_b} WHERE session_id = {session_of_a}",
    "a_sides_model_is_of_its_place": "UPDATE battles_side SET model_id = {model_of_b} WHERE id = {side_of_a}",
    "a_sides_model_is_of_its_place ": "UPDATE battles_side SET model_id = {model_of_b} WHERE id = {side_of_site}",
    "a_side_stays_in_its_battle":
        "UPDATE battles_side SET battle_id = {battle_of_site}, position = '6' WHERE id = {side_of_a}",
    "a_token_stays_in_its_place": "UPDATE accounts_apitoken SET team_id = {b} WHERE id = {token_of_a}",
    "facts_of_a_vote_never_change": "UPDATE battles_vote SET team_id = {b} WHERE id = {vote_of_a}",
    "given_stars_never_change": "UPDATE battles_starrating SET team_id = {b} WHERE id = {stars_of_a}",
    "a_charges_model_is_of_its_place": "UPDATE models_registry_charge SET team_id = {b} WHERE id = {charge_of_a}",
    "a_charges_model_is_of_its_place ":
        "UPDATE models_registry_charge SET team_id = NULL, month = NULL WHERE id = {charge_of_a}",
    "a_rules_model_is_of_its_place": "UPDATE routing_rule SET model_id = {model_of_b} WHERE id = {rule_of_a}",
    "a_rules_model_is_of_its_place ": "UPDATE routing_rule SET team_id = {b} WHERE id = {rule_of_a}",
    "a_rules_token_is_of_its_team": "UPDATE routing_rule SET token_id = {token_of_b} WHERE id = {rule_of_a}",
    "a_teams_key_moderates_no_prompts": "UPDATE battles_moderationendpoint SET provider_id = {provider_of_b}",
}  # fmt: skip
# Their team is all that they are of, or follows from a row in the same statement.
OF_ONE_TEAM = {
    "accounts_teammember", "accounts_invitation", "accounts_issuergroup", "leaderboard_teamboard",
    "battles_blindcharge",  # settled from the charges of its answer
    "leaderboard_aggregationrun", "leaderboard_anomalyreview",  # computed from the votes of one place
    "reviews_decisionreport", "metrics_metricday",  # name no other row
}  # fmt: skip
# Their statements are in tests/benchmarks/teams/test_rows.py, and in files of teams of battles, routing and gateway.
TESTED_BY_THEIR_APPS = {
    "benchmarks_template", "benchmarks_run", "benchmarks_reply", "benchmarks_judge", "uploads_upload",
    "battles_category", "battles_moderationrule", "battles_promptsuggestion", "battles_routingdecision",
    "routing_routersnapshot", "gateway_exchange", "reviews_review",
}  # fmt: skip


@dataclass
class Place:
    team: Team
    owner: User
    model: LanguageModel

    @classmethod
    def create(cls) -> "Place":
        owner = make.user()
        team = make.team(owner)
        model = make.team_model(team)
        set_price(model, Decimal(1), Decimal(1))
        return cls(team, owner, model)

    def battle(self) -> Battle:
        return make.answered_battle(self.model, make.model(), actor=Actor(user=self.owner), place=self.team)


@pytest.fixture
def a() -> Place:
    return Place.create()


@pytest.fixture
def b() -> Place:
    return Place.create()


def vote(place: Place, battle: Battle, **fields: Any) -> Vote:
    left, right = (side.model for side in battle.sides.order_by("position"))
    facts = {"team": place.team, "on_site_boards": False, "voter": "user:1", "turn_count": 1, **fields}
    return Vote.objects.create(battle=battle, choice="left", model_left=left, model_right=right, **facts)


def charge(place: Place, **fields: Any) -> Charge:
    model = place.model
    facts = {"model": model, "provider": model.provider, "price": model.price, "team": place.team, **fields}
    return Charge.objects.create(day="2026-11-29", most=cents(1), **facts)


@pytest.fixture
def ids(a: Place, b: Place) -> dict[str, int]:
    battle, of_b, of_site = a.battle(), b.battle(), make.battle(make.model(), make.model())
    answer = Answer.objects.filter(turn__battle=battle).earliest("pk")
    stars = StarRating.objects.create(answer=answer, stars=3, voter="user:1", team=a.team, on_site_boards=False)
    of_a, of_other = (
        ApiToken.issue(user=place.owner, name="t", scopes=[Scope.READ], team=place.team)[0] for place in (a, b)
    )
    ModerationEndpoint.objects.create(provider=paid_model().provider)
    return {
        "b": b.team.pk, "model_of_a": a.model.pk, "model_of_b": b.model.pk, "provider_of_b": b.model.provider_id,
        "session_of_a": battle.session_id, "session_of_b": of_b.session_id, "battle_of_site": of_site.pk,
        "side_of_a": battle.sides.get(model=a.model).pk, "side_of_site": of_site.sides.earliest("pk").pk,
        "token_of_a": of_a.pk, "token_of_b": of_other.pk, "vote_of_a": vote(a, battle).pk, "stars_of_a": stars.pk,
        "charge_of_a": charge(a).pk, "rule_of_a": Rule.objects.create(team=a.team, target="model", model=a.model).pk,
    }  # fmt: skip


@pytest.mark.parametrize(("name", "statement"), REFUSED.items())
def test_database_refuses_statement(ids: dict[str, int], name: str, statement: str):
    with pytest.raises(DatabaseError) as refused, transaction.atomic():
        connection.cursor().execute(statement.format(**ids))
    assert name.strip() in str(refused.value) or "Cannot update" in str(refused.value)


def refuses(act: Any) -> str:
    with pytest.raises(DatabaseError) as refused, transaction.atomic():
        act()
    return str(refused.value).splitlines()[0]


def test_vote_is_of_its_sessions_place(a: Place, b: Place):
    of_site = make.answered_battle(make.model(), make.model())
    wanted = "a_vote_is_of_its_sessions_place"
    assert wanted in refuses(lambda: vote(b, a.battle()))
    assert wanted in refuses(lambda: vote(a, a.battle(), team=None, on_site_boards=True))
    assert wanted in refuses(lambda: vote(a, of_site))
    assert wanted in refuses(lambda: vote(a, a.battle(), on_site_boards=True))  # one model is the team's
    both = make.answered_battle(make.model(), make.model(), actor=Actor(user=a.owner), place=a.team)
    assert vote(a, both, on_site_boards=True).pk


def test_stars_are_of_their_sessions_place(a: Place, b: Place):
    def rate(**fields: Any) -> StarRating:
        answer = Answer.objects.filter(turn__battle=a.battle(), side__model=a.model).get()
        facts = {"team": a.team, "on_site_boards": False, **fields}
        return StarRating.objects.create(answer=answer, stars=3, voter="user:1", **facts)

    for mixed in ({"team": b.team}, {"team": None, "on_site_boards": True}, {"on_site_boards": True}):
        assert "stars_are_of_their_sessions_place" in refuses(lambda mixed=mixed: rate(**mixed))
    assert rate().pk


def test_charge_for_a_teams_model_is_the_teams(a: Place, b: Place):
    for team in (b.team, None):
        assert "a_charges_model_is_of_its_place" in refuses(lambda team=team: charge(a, team=team))


def test_personal_session_has_no_model_of_a_team(a: Place):
    session = Session.objects.create(owner_user=a.owner)
    battle = Battle.objects.create(session=session, propensity=1)
    assert "a_sides_model_is_of_its_place" in refuses(lambda: battle.sides.create(position="left", model=a.model))


def test_each_table_of_a_team_is_known():
    def has_team(model: type[models.Model]) -> bool:
        return any(field.related_model is Team for field in model._meta.local_concrete_fields)

    tables = {model._meta.db_table for model in apps.get_models() if has_team(model)}
    known = OF_ONE_TEAM | TESTED_BY_THEIR_APPS
    assert {table for table in tables - known if not any(table in line for line in REFUSED.values())} == set()
