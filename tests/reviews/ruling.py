"""Reviews with a stop rule, and people who vote and end."""

from collections.abc import Sequence
from datetime import timedelta

from django.utils import timezone

from accounts.actor import Actor
from battles.actions import cast_vote
from battles.models import Side, Vote
from models_registry.models import LanguageModel
from reviews import actions
from reviews.actions.stopping import end_away_people
from reviews.models import Contrast, Review, Reviewer
from tests import make
from tests.worlds.benchmarks.samples import Sample


def ruled(sample: Sample, contrasts: Sequence[Sequence[str]] = (("ada", "bob"),), **terms: object) -> Review:
    """Return an open review with a stop rule."""
    terms = {"opinions_per_item": 50, "stop_share": 60, "contrasts": contrasts, **terms}
    return actions.open_review(actions.create_review(owner=sample.run.owner, run=sample.run, **terms))  # type: ignore[arg-type]


def prefer(review: Review, person: Actor, choice: str | LanguageModel, n: int = 1) -> None:
    """Vote n times for a model, or with a choice."""
    for _n in range(n):
        battle = actions.next_battle(person, review)
        assert battle is not None
        side = choice if isinstance(choice, str) else Side.objects.get(battle=battle, model=choice).position
        cast_vote(actor=person, battle=battle, choice=Vote.Choice(side))


def people(review: Review, number: int, choice: str | LanguageModel, n: int = 1) -> list[Actor]:
    """Let new people vote and end."""
    new = [make.member() for _n in range(number)]
    for person in new:
        prefer(review, person, choice, n)
    Reviewer.objects.filter(away_at__isnull=False).update(away_at=timezone.now() - timedelta(seconds=1))
    end_away_people()
    review.refresh_from_db()
    return new


def state(review: Review) -> tuple[str, int, int]:
    contrast = Contrast.objects.get(review=review)
    return contrast.decision, contrast.people, contrast.opinions
