"""Boards that count the votes and stars of a team's sessions."""

import pytest
from django.db import IntegrityError, InternalError, ProgrammingError, transaction

from accounts.actor import Actor
from accounts.models import Role
from battles import actions
from battles.models import Battle, Position, Session, Side, StarRating, Vote
from leaderboard.counting import stars
from leaderboard.models import EloRating
from tests import make
from tests.leaderboard.vote_factory import cast, contestants

pytestmark = pytest.mark.django_db


@pytest.fixture
def pair():
    return contestants("a", "b")


def team_battle(pair, team, user, **fields) -> Battle:
    """Return an answered battle in a session of the team."""
    session = Session.objects.create(owner_user=user, team=team)
    battle = Battle.objects.create(session=session, propensity=1.0, **fields)
    for position, model in zip((Position.LEFT, Position.RIGHT), pair, strict=True):
        Side.objects.create(battle=battle, position=position, model=model)
    make.turn(battle)
    make.complete_answers(battle)
    return battle


@pytest.mark.parametrize("counts", [False, True])
def test_vote_of_team_follows_its_wish(pair, counts):
    user = make.user()
    team = make.team(user, colour="red")
    type(team).objects.filter(pk=team.pk).update(counts_on_site_boards=counts)
    battle = team_battle(pair, team, user)
    vote = actions.cast_vote(actor=Actor(user=user), battle=battle, choice=Vote.Choice.LEFT)
    assert (vote.team_id, vote.on_site_boards) == (team.pk, counts)


def test_personal_vote_counts_for_the_site(pair):
    user = make.user()
    battle = make.answered_battle(*pair, actor=Actor(user=user))
    vote = actions.cast_vote(actor=Actor(user=user), battle=battle, choice=Vote.Choice.LEFT)
    assert (vote.team_id, vote.on_site_boards) == (None, True)


def test_place_of_a_vote_never_changes(pair):
    vote = cast(*pair, "left", team=make.team(), on_site_boards=False)
    for change in ({"team": None, "on_site_boards": True}, {"on_site_boards": True}):
        with pytest.raises((InternalError, ProgrammingError)), transaction.atomic():
            Vote.objects.filter(pk=vote.pk).update(**change)


def test_vote_without_any_board_is_refused(pair):
    with pytest.raises(IntegrityError, match="a_vote_counts_for_the_site_a_team_or_a_review"):
        cast(*pair, "left", on_site_boards=False)


@pytest.mark.django_db(transaction=True)
def test_live_elo_of_site_ignores_team_votes(pair):
    cast(*pair, "left", team=make.team(), on_site_boards=False)
    assert not EloRating.objects.exists()
    cast(*pair, "left", team=make.team(), on_site_boards=True)
    assert sorted(EloRating.objects.values_list("votes", flat=True)) == [1, 1]


def test_stars_of_team_are_not_on_the_site_board(pair):
    owner, members = make.user(), [make.user()]
    team = make.team(owner, members={Role.MEMBER: members})
    battle = team_battle(pair, team, owner, mode=Battle.Mode.COMPARE)
    answers = [answer for turn in battle.turns.all() for answer in turn.answers.all()]
    for answer, given in zip(answers, (5, 2), strict=True):
        actions.give_stars(actor=Actor(user=owner), answer=answer, stars=given)
    assert {(star.team_id, star.on_site_boards) for star in StarRating.objects.all()} == {(team.pk, False)}
    assert (stars.last_star(), stars.last_star(team.pk)) == (0, 2)
    last = StarRating.objects.latest("order").order
    assert (stars.mean_stars_by_model(last), list(stars.mean_stars_by_model(last, team.pk))) == ({}, ["a", "b"])
