"""Battles of a team have models of its place only."""

from datetime import timedelta
from random import Random

import pytest
from django.utils import timezone

from accounts.actor import Actor
from accounts.models import Team, User
from battles.actions import start_session
from battles.calls import take_slots
from battles.errors import TooFewModels
from battles.models import Battle, Call
from battles.prompting.lineup import BattleRequest, draw_opponent
from common.errors import InvalidInput
from models_registry.models import LanguageModel
from models_registry.teams.actions import set_status, use_site_models
from models_registry.versions import set_price
from routing.models import Rule
from tests import make

pytestmark = pytest.mark.django_db
Mode = Battle.Mode


@pytest.fixture
def owner() -> User:
    return make.user()


@pytest.fixture
def team(owner: User) -> Team:
    return make.team(owner, slug="physics")


def models_of(battle: Battle) -> set[LanguageModel]:
    return {side.model for side in battle.sides.all()}


def start(owner: User, team: Team | None, *models: str, mode: Battle.Mode = Mode.DIRECT) -> Battle:
    request = BattleRequest(mode, models) if models else BattleRequest()
    return start_session(actor=Actor(user=owner), prompt="one two three", battle_request=request, place=team)


def test_draws_stay_in_their_place(team: Team, owner: User):
    of_site = {make.model(), make.model()}
    own = {make.team_model(team), make.team_model(team)}
    foreign = {make.team_model(make.team()), make.team_model(make.team())}
    use_site_models(by=owner, team=team, uses=False)

    for _ in range(5):
        assert models_of(start(owner, team)) == own
        assert models_of(start(owner, None)) == of_site
    use_site_models(by=owner, team=team, uses=True)
    drawn = set().union(*(models_of(start(owner, team)) for _ in range(20)))
    assert drawn <= own | of_site
    assert not drawn & foreign


def test_paid_models_of_a_team_are_quoted_from_its_place(team: Team, owner: User):
    for price, model in enumerate([make.team_model(team), make.team_model(team)], start=1):
        set_price(model, price, price)  # type: ignore[arg-type]
    use_site_models(by=owner, team=team, uses=False)
    assert models_of(start(owner, team)) == set(LanguageModel.objects.in_place(team.pk))


def test_team_model_is_chosen_by_both_names(team: Team, owner: User):
    make.model(slug="bert")
    own = make.team_model(team, slug="bert")

    for name in ("bert", "physics~bert"):
        assert models_of(start(owner, team, name)) == {own}
    with pytest.raises(InvalidInput, match="Choose each model once"):
        start(owner, team, "bert", "physics~bert", mode=Mode.SIDE_BY_SIDE)
    with pytest.raises(InvalidInput, match="There is no model “physics~bert”"):
        start(owner, None, "physics~bert")


def test_team_with_one_model_can_only_chat(team: Team, owner: User):
    own = make.team_model(team, name="Own model")
    make.model()
    make.model()
    use_site_models(by=owner, team=team, uses=False)

    with pytest.raises(TooFewModels):
        start(owner, team)
    assert models_of(start(owner, team, own.slug)) == {own}
    page = make.browser(Actor(user=owner)).get("/?team=physics").content.decode()
    assert "Own model" in page
    assert 'hx-get="/teams/physics/models/choices/?picker=one"' in page


def test_replacement_of_a_failed_side_is_of_the_place(team: Team, owner: User):
    staying, leaving, other = (make.team_model(team) for _ in range(3))
    use_site_models(by=owner, team=team, uses=False)
    make.model()
    make.team_model(make.team())
    for number in range(10):
        pair = draw_opponent(
            staying=staying, leaving=leaving.pk, random=Random(number), is_eligible=lambda model: True,
            team_id=team.pk,
        )  # fmt: skip
        assert pair is not None
        assert pair.right == other.pk


@pytest.mark.parametrize("status", ["paused", "retired"])
def test_model_that_is_not_active_any_more_is_named(team: Team, owner: User, status: str):
    site_model, own = make.model(slug="ada", name="Ada"), make.team_model(team, slug="bert", name="Bert")
    start(owner, team, "ada")
    for model in (site_model, own):
        set_status(by=owner, model=model, status=LanguageModel.Status(status))
    for name, words in (("ada", f"Ada is {status}"), ("physics~bert", f"Bert is {status}")):
        with pytest.raises(InvalidInput, match=words):
            start(owner, team, name)


def test_rules_of_a_team_come_before_the_sites(team: Team, owner: User):
    ada, own = make.model(slug="ada"), make.team_model(team, slug="bert")
    Rule.objects.create(order=1, target="model", model=ada, is_active=True)
    Rule.objects.create(order=9, target="model", model=own, is_active=True, team=team)
    api = make.api(owner)
    of_team = {"Authorization": f"Bearer {make.token(owner, team=team)}"}

    def decided(**headers: object) -> str:
        body = {"prompt": "one two three"}
        return str(api.post("/api/v1/route/", body, content_type="application/json", **headers).json()["model"])  # type: ignore[arg-type]

    assert decided() == "ada"
    assert decided(headers=of_team) == "physics~bert"


def test_calls_of_a_team_at_once_are_limited(team: Team, settings: pytest.FixtureRequest):
    settings.ARENA_TEAM_CALLS = 1  # type: ignore[attr-defined]
    first = make.team_model(team, at="https://9.9.9.1/v1")
    second = make.team_model(team, at="https://9.9.9.2/v1")
    foreign, of_site = make.team_model(make.team()), make.model()

    assert take_slots([first, second, foreign, of_site]) == [True, False, True, True]
    until = timezone.now() + timedelta(hours=1)
    Call.objects.create(model=first, purpose=Call.Purpose.GATEWAY, attempt=1, fence=0, lease_until=until)
    assert take_slots([second, foreign]) == [False, True]


@pytest.mark.parametrize(("limit", "started"), [(1, 1), (2, 1), (4, 3)])
def test_background_calls_count_among_a_teams_calls(
    team: Team, settings: pytest.FixtureRequest, limit: int, started: int
):
    settings.ARENA_TEAM_CALLS = limit  # type: ignore[attr-defined]
    first = make.team_model(team, at="https://9.9.9.1/v1")
    second = make.team_model(team, at="https://9.9.9.2/v1")
    foreign = make.team_model(make.team())

    free = take_slots([first, second, first, second], background=True)
    assert (sum(free), take_slots([foreign], background=True)) == (started, [True])
    until = timezone.now() + timedelta(hours=1)
    for _ in range(started):
        Call.objects.create(model=first, purpose=Call.Purpose.ITEM, attempt=1, fence=0, lease_until=until)
    assert take_slots([second], background=True) == [False]
    assert sum(take_slots([first, second, first, second])) == limit - started
