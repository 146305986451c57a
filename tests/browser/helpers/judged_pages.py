"""Judges and reviews of a run, for visits to every page."""

from collections.abc import Sequence

from accounts.actor import Actor
from accounts.models import User
from battles import actions
from battles.models import Vote
from benchmarks.models import Run
from models_registry.models import LanguageModel
from reviews import actions as reviews
from reviews.payload_types import QuestionPayload
from tests import make
from tests.worlds.benchmarks import judged_runs
from tests.worlds.reviews.second_opinions import asked_about, prefer


def add_judges(run: Run, models: Sequence[LanguageModel]) -> list[str]:
    """Add a judge that compares and one that grades; return paths of what they said."""
    judges = judged_runs.judges_of_each_kind(models[0], run)
    pages = [f"/benchmarks/r/{run.public_id}/judgements/{judge.public_id}/" for judge in judges]
    return [
        f"{pages[0]}?only=controls", f"{pages[0]}?names=shown", pages[1],
        f"/benchmarks/judges/{judges[1].public_id}/edit/",
        f"/benchmarks/judges/new/?run={run.public_id}&item={run.items.earliest('pk').pk}",
    ]  # fmt: skip


def add_reviews(user: User, run: Run) -> list[str]:
    """Add an open review, a draft and a closed one of the run; return paths of their pages."""
    opened = reviews.create_review(
        owner=user, run=run, title="Which capital?", instructions="Prefer **short** answers."
    )
    question: QuestionPayload = {"text": "Which is more polite?", "steps": ["A", "both", "B"], "compares": True}
    draft, closed = (
        reviews.create_review(owner=user, run=run, title=title, questions=[question]) for title in ("Draft", "Capitals")
    )
    answered = reviews.next_battle(voter := make.member(), reviews.open_review(closed))
    assert answered is not None
    actions.cast_vote(actor=voter, battle=answered, choice=Vote.Choice.LEFT, answers=[1])
    reviews.close_review(closed)
    reviews.open_review(opened)
    by_codes = reviews.create_review(owner=user, run=run, title="With codes", audience="codes", expected_people=3)
    reviews.open_review(by_codes)
    graded, rated = (
        reviews.open_review(reviews.create_review(owner=user, run=run, title=title, asks_for=asks_for))
        for title, asks_for in (("Right or wrong?", "pass"), ("Stars", "stars"))
    )
    reviews.next_answer(Actor(user=user), graded)
    reviewer = make.visitor()
    drawn = reviews.next_answer(reviewer, rated)
    assert drawn is not None
    reviews.grade_answer(reviewer, rated, drawn.pk, 4)
    reviews.close_review(rated)
    models = [entrant.model for entrant in run.entrants.select_related("model") if entrant.model is not None]
    asked = asked_about(Actor(user=user), models=tuple(models[:2]))
    prefer(make.visitor(), asked, models[0])
    return [
        f"/review/{asked.public_id}/", f"/review/{asked.public_id}/results/", asked.settings_url,
        f"/review/{draft.public_id}/settings/", f"/review/{closed.public_id}/results/",
        f"/review/{closed.public_id}/agreement/", f"/review/{rated.public_id}/results/",
    ]  # fmt: skip
