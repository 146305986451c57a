"""Attempts against the borders of teams: places that disagree, names of others, endings in the middle."""

import json
import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from accounts.actor import Actor
from accounts.errors import InvitationUsed, NotInTeam
from accounts.models import Role, Team, User
from accounts.teams import actions as team_actions
from battles import actions
from battles.models import Answer, Battle, Session, StarRating, Vote
from battles.prompting.lineup import BattleRequest
from battles.worker.runner import Engine
from tests import make
from tests.fake_provider import FakeProvider

pytestmark = pytest.mark.django_db


@pytest.fixture
def person() -> User:
    return make.user()


@pytest.fixture
def team(person: User) -> Team:
    return make.team(slug="physics", name="Physics", members={Role.MEMBER: [person]})


def leave(team: Team, person: User, end: str) -> Actor:
    """End the person's part in the team; return the person as the next request finds it."""
    owner = team.members.get(role=Role.OWNER).user
    match end:
        case "removed":
            team_actions.remove_member(by=owner, member=team.members.get(user=person))
        case "demoted":
            team_actions.set_role(by=owner, member=team.members.get(user=person), role=Role.GUEST)
        case "archived":
            team_actions.archive_team(by=owner, team=team)
    return Actor(user=User.signed_in.get(pk=person.pk))


ENDS = pytest.mark.parametrize("end", ["removed", "demoted", "archived"])


@ENDS
def test_open_battle_takes_no_vote_after_the_end(team: Team, person: User, end: str):
    battle = make.answered_battle(make.model(), make.model(), actor=Actor(user=person), place=team)

    actor = leave(team, person, end)

    with pytest.raises(NotInTeam):
        actions.cast_vote(actor=actor, battle=battle, choice=Vote.Choice.LEFT)
    assert make.browser(actor).post(f"/battles/{battle.public_id}/vote/", {"choice": "left"}).status_code == 403
    assert not Vote.objects.exists()
    page = make.browser(actor).get(battle.session.get_absolute_url()).content.decode()
    assert "one two three" in page
    assert ("The team is archived" in page) == (end == "archived")


@ENDS
def test_comparison_takes_no_stars_after_the_end(team: Team, person: User, end: str):
    wish = BattleRequest(Battle.Mode.COMPARE, (make.model().slug, make.model().slug))
    battle = actions.start_session(actor=Actor(user=person), prompt="one", battle_request=wish, place=team)
    make.complete_answers(battle)

    actor = leave(team, person, end)

    with pytest.raises(NotInTeam):
        actions.give_stars(actor=actor, answer=Answer.objects.filter(turn__battle=battle)[0], stars=4)
    assert not StarRating.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_turn_under_way_is_answered_when_the_team_is_archived(
    team: Team, person: User, fake_provider: FakeProvider, engine: Engine
):
    """Its money is reserved, and the person may read what was begun."""
    for _ in range(2):
        make.model(at=fake_provider.base_url)
    battle = actions.start_session(actor=Actor(user=person), prompt="one two three", place=team)

    actor = leave(team, person, "archived")
    engine.answer(battle.turns.get().pk)

    assert {answer.text for answer in Answer.objects.all()} == {"one two three "}
    with pytest.raises(NotInTeam):
        actions.follow_up(actor=actor, battle=battle, prompt="four")
    connection.close()


@pytest.mark.parametrize("sent", [{"team": "physics"}, {"team": ""}, {"team": None}, {"team": "history"}])
def test_session_is_not_moved(team: Team, person: User, sent: dict[str, object]):
    make.team(person, slug="history")
    in_team, personal = (Session.objects.create(owner_user=person, team=place) for place in (team, None))
    client = make.browser(Actor(user=person))

    for session, place in ((in_team, team), (personal, None)):
        path = f"/api/v1/sessions/{session.public_id}/"
        response = client.patch(path, json.dumps({"title": "New", **sent}), "application/json")
        assert response.status_code in (200, 400)
        session.refresh_from_db()
        assert session.team == place
    battles = f"/api/v1/sessions/{personal.public_id}/battles/"
    client.post(battles, json.dumps({"prompt": "Hi", **sent}), "application/json")
    assert not Battle.objects.filter(session=personal, sides__model__team__isnull=False).exists()


@pytest.mark.parametrize("slug", ["history", ""])
def test_token_and_named_team_disagree(team: Team, person: User, slug: str):
    make.team(person, slug="history")
    for _ in range(2):
        make.model()
    client = Client(headers={"Authorization": f"Bearer {make.token(person, team=team)}"})

    for path, body in (
        ("/api/v1/sessions/", {"prompt": "Hi", "team": slug}),
        ("/api/v1/me/tokens/", {"name": "t", "scopes": ["read"], "team": slug}),
    ):
        assert client.post(path, json.dumps(body), "application/json").status_code in (403, 404)
    assert not Session.objects.exists()


ASKED = [
    ("/api/v1/sessions/", {"prompt": "Hi", "mode": "direct", "models": ["NAME"]}),
    ("/api/v1/sessions/", {"prompt": "Hi", "mode": "compare", "models": ["NAME", "ada"]}),
    ("/api/v1/sessions/", {"prompt": "Hi", "mode": "auto", "models": ["NAME", "ada"]}),
    ("/api/v1/sessions/", {"prompt": "Hi", "filters": {"models": ["NAME", "ada"]}}),
    ("/api/v1/sessions/", {"prompt": "Hi", "filters": {"organizations": ["NAME"]}}),
    ("/api/v1/route/", {"prompt": "Hi", "models": ["NAME"]}),
    ("/v1/chat/completions", {"model": "NAME", "messages": [{"role": "user", "content": "Hi"}]}),
    ("/v1/responses", {"model": "NAME", "input": "Hi"}),
    ("/v1/messages", {"model": "NAME", "max_tokens": 5, "messages": [{"role": "user", "content": "Hi"}]}),
    ("/api/v1/benchmarks/estimate/", {"template": "none", "models": ["NAME"]}),
    ("/api/v1/benchmarks/runs/", {"template": "none", "models": ["NAME"]}),
]


@pytest.mark.parametrize(("path", "body"), ASKED)
@pytest.mark.parametrize("name", ["quark", "physics~quark"])
def test_model_of_another_team_is_unknown(team: Team, path: str, body: dict[str, object], name: str):
    make.team_model(team, slug="quark", organization="quark")
    make.model(slug="ada")
    owner = make.user()
    elsewhere = make.team(owner, slug="history")
    make.team_model(elsewhere, slug="clio")
    client = Client(headers={"Authorization": f"Bearer {make.token(owner, team=elsewhere)}"})

    def answer(asked: str) -> tuple[int, str]:
        response = client.post(path, json.dumps(body).replace("NAME", asked), "application/json")
        return response.status_code, re.sub(r"\b[0-9a-f]{24}\b", "ID", response.text.replace(asked, "NAME"))

    other = name.replace("quark", "gluon")
    there, nowhere = answer(name), answer(other)
    assert there == nowhere
    assert 400 <= there[0] < 500


def test_link_with_uses_left_brings_no_removed_member_back(team: Team):
    owner, person, other = team.members.get(role=Role.OWNER).user, make.user(), make.user()
    soon = timezone.now() + timedelta(days=1)
    row, token = team_actions.invite(by=owner, team=team, role=Role.MEMBER, uses=3, expires_at=soon)
    team_actions.join(user=person, token=token)
    leave(team, person, "removed")

    with pytest.raises(InvitationUsed):
        team_actions.join(user=person, token=token)
    team_actions.join(user=other, token=token)

    row.refresh_from_db()
    assert (row.uses_left, row.joined) == (1, [person.pk, other.pk])
    _new, token = team_actions.invite(by=owner, team=team, role=Role.MEMBER, uses=1, expires_at=soon)
    assert team_actions.join(user=person, token=token).role == Role.MEMBER
