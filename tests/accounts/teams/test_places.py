"""The place in which a request acts, and the roles that allow it."""

import pytest
from django.db import DatabaseError, IntegrityError, transaction
from django.test import Client

from accounts.actor import Actor
from accounts.errors import NotInTeam
from accounts.models import ApiToken, Role, Scope
from accounts.teams import actions
from accounts.teams.places import find_member, place_named, require_place_id
from accounts.teams.roles import RIGHTS, Right
from battles.actions import follow_up, start_session
from battles.models import Session
from common.errors import NotAllowed, NotFound
from tests import make
from tests.fake_provider import FakeProvider

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("right", Right)
def test_role_has_the_rights_of_the_table(role: Role, right: Right):
    person = make.user()
    team = make.team(members={role: [person]})

    if right in RIGHTS[role]:
        assert find_member(Actor(user=person), team.slug, right).team == team
    else:
        with pytest.raises(NotAllowed):
            find_member(Actor(user=person), team.slug, right)


@pytest.mark.parametrize("archived", [False, True])
def test_team_of_others_is_not_found(archived: bool):
    owner = make.user()
    team = make.team(owner)
    if archived:
        actions.archive_team(by=owner, team=team)

    with pytest.raises(NotFound):
        place_named(Actor(user=owner if archived else make.user()), team.slug)
    with pytest.raises(NotFound):
        place_named(make.visitor(), team.slug)


def test_token_acts_in_its_place_only():
    person = make.user()
    team, other = make.team(person), make.team(person)
    of_team = Actor(user=person, token=1, membership=team.members.get())
    personal = Actor(user=person, token=2)

    assert place_named(of_team, None) == place_named(of_team, team.slug) == team
    assert place_named(personal, None) is place_named(personal, "") is None
    for actor, slug in ((of_team, ""), (of_team, other.slug), (personal, team.slug)):
        with pytest.raises(NotFound):
            place_named(actor, slug)


def test_token_of_team_reads_the_teams_sessions_only():
    person = make.user()
    team = make.team(person)
    in_team = Session.objects.create(owner_user=person, team=team)
    personal = Session.objects.create(owner_user=person)
    of_team = ApiToken.issue(user=person, name="t", scopes=[Scope.READ], team=team)[1]
    own = ApiToken.issue(user=person, name="t", scopes=[Scope.READ])[1]

    def read(token: str) -> list[str]:
        response = Client(headers={"Authorization": f"Bearer {token}"}).get("/api/v1/sessions/")
        return [session["id"] for session in response.json()["results"]]

    assert (read(of_team), read(own)) == ([in_team.public_id], [personal.public_id])
    actions.archive_team(by=person, team=team)
    assert Client(headers={"Authorization": f"Bearer {of_team}"}).get("/api/v1/sessions/").status_code == 401


def test_removed_member_keeps_session_but_gets_no_answer(fake_provider: FakeProvider):
    for _ in range(2):
        make.model(at=fake_provider.base_url)
    person = make.user()
    team = make.team(members={Role.MEMBER: [person]})
    battle = start_session(actor=Actor(user=person), prompt="one two three", place=team)
    make.complete_answers(battle)
    assert battle.session.team == team

    actions.remove_member(by=person, member=team.members.get(user=person))
    removed = Actor(user=type(person).objects.get(pk=person.pk))

    assert Session.objects.owned_by(removed).get() == battle.session
    with pytest.raises(NotInTeam):
        follow_up(actor=removed, battle=battle, prompt="four")
    require_place_id(removed, None)


def test_database_keeps_session_in_its_place():
    person = make.user()
    session = Session.objects.create(owner_user=person, team=make.team(person))

    with pytest.raises(DatabaseError, match="Cannot update"), transaction.atomic():
        Session.objects.filter(pk=session.pk).update(team=None)
    with pytest.raises(IntegrityError, match="a_visitor_is_in_no_team"), transaction.atomic():
        Session.objects.create(owner_visitor=make.visitor().visitor, team=session.team)
    with pytest.raises(IntegrityError, match="a_shared_session_is_a_teams"), transaction.atomic():
        Session.objects.create(owner_user=person, is_shared=True)


def test_person_without_team_costs_no_query(django_assert_num_queries):  # type: ignore[no-untyped-def]
    person, member = make.user(), make.user()
    make.team(member)

    with django_assert_num_queries(1):
        assert type(person).signed_in.get(pk=person.pk).memberships == {}
    with django_assert_num_queries(2):
        assert len(type(person).signed_in.get(pk=member.pk).memberships) == 1
