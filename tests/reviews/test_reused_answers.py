"""A run that was given the answers of a run under review again shows the same answers."""

import pytest
from django.test import Client

from accounts.actor import Actor
from accounts.models import Role, Team, User
from battles.actions import cast_vote
from battles.models import Vote
from benchmarks import actions as run_actions
from benchmarks.models import Run
from reviews import actions
from reviews.models import Review
from tests import make
from tests.worlds.benchmarks import samples

pytestmark = pytest.mark.django_db


@pytest.fixture
def manager() -> User:
    return make.user()


@pytest.fixture
def colleague() -> User:
    return make.user()


@pytest.fixture
def team(manager: User, colleague: User) -> Team:
    return make.team(slug="physics", members={Role.MANAGER: [manager], Role.MEMBER: [colleague]})


@pytest.fixture
def run(team: Team, manager: User) -> Run:
    return samples.sample(manager, [make.team_model(team, slug="own"), make.model(slug="site")], team).run


def status(reader: Actor | User, run: Run) -> int:
    browser: Client = make.browser(Actor(user=reader) if isinstance(reader, User) else reader)
    return browser.get(f"/benchmarks/r/{run.public_id}/matrix/").status_code


def opened(run: Run, owner: User) -> Review:
    return actions.open_review(actions.create_review(owner=owner, run=run, opinions_per_item=5))


def reason_of_a_vote(person: User, review: Review) -> str:
    actor = Actor(user=person)
    battle = actions.next_battle(actor, review)
    assert battle is not None
    return cast_vote(actor=actor, battle=battle, choice=Vote.Choice.LEFT).excluded_reason


def test_review_hides_a_later_run_with_its_answers(run: Run, manager: User, colleague: User):
    review = opened(run, manager)
    again = samples.reusing_run(colleague, run)
    assert (status(colleague, again), status(manager, again)) == (403, 200)
    assert reason_of_a_vote(colleague, review) == ""
    actions.close_review(review)
    assert status(colleague, again) == 200


@pytest.mark.parametrize("reads", [True, False])
def test_readers_of_an_earlier_run_know_the_answers(
    run: Run, team: Team, manager: User, colleague: User, *, reads: bool
):
    """The run whose answers are reused, and the run that reused them, are the same to a reader."""
    asked = samples.reusing_run(manager, run)
    reader = colleague if reads else make.user()
    team.members.get_or_create(user=reader, defaults={"role": Role.MEMBER})
    assert not reads or status(reader, run) == 200
    assert reason_of_a_vote(reader, opened(asked, manager)) == ("knew_answers" if reads else "")


def test_owner_of_the_same_answers_reads_them_on(run: Run, manager: User, colleague: User):
    again = samples.reusing_run(colleague, run)
    review = opened(run, manager)
    assert status(colleague, again) == 200
    assert status(colleague, run) == 403
    assert reason_of_a_vote(colleague, review) == "knew_answers"


def test_review_of_a_member_hides_their_published_run(colleague: User):
    models = [make.model(slug="cat"), make.model(slug="dog")]
    run = samples.sample(colleague, models).run
    again, other = samples.reusing_run(colleague, run), samples.finished_run(colleague, run.version, models)
    for published in (again, other):
        run_actions.publish_run(published, with_names=True)
    opened(run, colleague)
    readers = [make.member(), make.visitor()]
    assert [status(reader, again) for reader in readers] == [403, 403]
    assert [status(reader, other) for reader in readers] == [200, 200]
    assert status(colleague, again) == 200
