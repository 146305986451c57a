"""A class joins by one link at once, behind one address, over HTTP; each person battles and votes with an own quota."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.actor import Actor
from accounts.models import Invitation, Role, Team, User
from accounts.teams import actions
from battles.models import Vote
from leaderboard.models import AggregationRun
from models_registry.models import SpendingDay
from tests import make
from tests.concurrency import race
from tests.fake_provider import FakeProvider
from tests.leaderboard.tally_checks import aggregate
from tests.models_registry.paid_models import cents, paid_model
from tests.site import Reader
from tests.worlds.school_class import PEOPLE, ask, battle_and_vote, sign_up

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def link(team: Team, uses: int) -> str:
    soon = timezone.now() + timedelta(days=1)
    return actions.invite(by=team.created_by, team=team, role=Role.MEMBER, uses=uses, expires_at=soon)[1]


@pytest.fixture
def team() -> Team:
    team = make.team(slug="physics")
    Team.objects.filter(pk=team.pk).update(member_month_budget=cents(6))  # the maximum of one battle
    return team


def vote_once(person: tuple[int, Reader]) -> int:
    """Battle, vote and ask once more; return the last status."""
    number, reader = person
    battle_and_vote(reader, f"one two three, number {number}", "physics", "left" if number % 3 else "right")
    return int(ask(reader, "four five six", "physics").status_code)


def test_class_of_forty_joins_battles_and_votes(site: str, team: Team, fake_provider: FakeProvider, settings: Any):
    settings.ARENA_SIGNUP = "invitation"
    for name in ("honest-a", "honest-b"):
        paid_model(name, at=fake_provider.base_url)
    token = link(team, PEOPLE)

    readers = race(lambda number: sign_up(site, token, number), range(PEOPLE))
    late = sign_up(site, token, PEOPLE)

    assert team.members.filter(role=Role.MEMBER).count() == PEOPLE
    assert Invitation.objects.get().uses_left == 0
    assert not User.objects.filter(email=f"p{PEOPLE}@class.example").exists()
    assert ask(late, "one", "physics").status_code == 404

    people = list(enumerate(readers))
    eights = [people[at : at + 8] for at in range(0, PEOPLE, 8)]
    assert [race(vote_once, eight) for eight in eights] == [[429] * 8] * 5
    spent = SpendingDay.objects.filter(account__startswith=f"team:{team.pk}/user:")
    assert [row.spent + row.reserved <= cents(6) for row in spent] == [True] * PEOPLE
    assert Vote.objects.filter(team=team, on_site_boards=False, excluded_reason="").count() == PEOPLE
    assert aggregate().votes_counted == 0
    board = AggregationRun.objects.get(team=team, scope=f"team:{team.pk}/overall")
    assert (board.votes_counted, board.facts["voters"]) == (PEOPLE, PEOPLE)
    shown = readers[0].api("GET", "leaderboard/?team=physics").json()
    assert sum(row["votes"] for row in shown["results"]) == 2 * PEOPLE


def test_link_used_twenty_times_at_once_joins_five(site: str, team: Team):
    token, people = link(team, uses=5), [make.user() for _ in range(20)]

    def join(person: User) -> int:
        reader = Reader(site)
        cookies = make.browser(Actor(user=person)).cookies
        reader.client.cookies.update({name: cookie.value for name, cookie in cookies.items()})
        return int(reader.post("/teams/join/", data={"invitation": token}).status_code)

    assert sorted(race(join, people)) == [302] * 5 + [409] * 15
    assert team.members.filter(role=Role.MEMBER).count() == 5
    assert len(Invitation.objects.get().joined) == 5
