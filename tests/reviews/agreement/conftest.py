"""A review of eleven pairs whose agreement is known."""

from collections.abc import Sequence

import pytest

from accounts.actor import Actor
from battles.actions import cast_vote
from battles.models import Side, Vote
from benchmarks import actions as benchmarks
from benchmarks.models import Judge, Run
from benchmarks.pasting import read_table
from models_registry.models import LanguageModel
from reviews import actions
from reviews.models import Review, ReviewBattle
from tests import make
from tests.worlds.benchmarks import judged_runs, samples

TABLE = "key\tcountry\texpected\n" + "\n".join(f"land-{n}\tLand {n}\tLongCapital{n}" for n in range(12))


@pytest.fixture
def run(owner: Actor, models: Sequence[LanguageModel]) -> Run:
    """Both models are right on five cases, only the first on six; the second failed on one."""
    template = samples.template(owner.user, cases=False)
    version = template.versions.get()
    benchmarks.add_cases(version, read_table(TABLE))
    return samples.finished_run(owner.user, version, models)


@pytest.fixture
def judge(run: Run, owner: Actor) -> Judge:
    """A judge that prefers the longer answer, and so says what the checks say: six times the first, five ties."""
    made = judged_runs.judge(make.model(), owner.user, name="The longer one")
    judged_runs.answer(judged_runs.judging(made, run), "judge-longer")
    return made


@pytest.fixture
def review(run: Run, owner: Actor, judge: Judge) -> Review:
    return actions.open_review(actions.create_review(owner=owner.user, run=run, opinions_per_item=3))


def vote_as_checks(review: Review, person: Actor) -> None:
    """Vote for the right answer, and a tie if both are right."""
    for drawn in battles_of(review, person):
        scores = drawn.review_item.first_item.score, drawn.review_item.second_item.score
        first = Side.objects.get(battle=drawn.battle, model=drawn.review_item.first_model)
        choice = Vote.Choice.TIE if scores[0] == scores[1] else Vote.Choice(first.position)
        cast_vote(actor=person, battle=drawn.battle, choice=choice)


def vote_for(review: Review, person: Actor, model: LanguageModel) -> None:
    for drawn in battles_of(review, person):
        side = Side.objects.get(battle=drawn.battle, model=model)
        cast_vote(actor=person, battle=drawn.battle, choice=Vote.Choice(side.position))


def battles_of(review: Review, person: Actor):
    while (battle := actions.next_battle(person, review)) is not None:
        yield ReviewBattle.objects.select_related(
            "battle", "review_item__first_item", "review_item__second_item", "review_item__first_model"
        ).get(battle=battle)


@pytest.fixture
def closed(review: Review, models: Sequence[LanguageModel]) -> Review:
    """Two people voted as the checks, one always for the second model."""
    for _person in range(2):
        vote_as_checks(review, make.member())
    vote_for(review, make.member(), models[1])
    review.refresh_from_db()
    if review.state == Review.State.OPEN:
        actions.close_review(review)
    review.refresh_from_db()
    return review
