"""Figures of second opinions: one battle's votes, and how often two people agree on the site."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import F, Q

from battles.models import Battle, Vote
from common.cache import TTLCached
from models_registry.models import LanguageModel
from reviews.models import Review, ReviewBattle

MIN_PAIRS = 30
_CACHE_S = 300.0


@dataclass(frozen=True)
class Share:
    """choice: left and right are the sides of the owner's battle. model: None of a tie and of both bad."""

    choice: str
    model: LanguageModel | None
    people: int
    percent: int
    is_owners: bool


@dataclass(frozen=True)
class Spread:
    """first, second: models of the left and the right side of the owner's battle. counts: people by choice."""

    first: LanguageModel
    second: LanguageModel
    counts: tuple[int, int, int, int]
    owners_choice: str

    @property
    def people(self) -> int:
        return sum(self.counts)

    @property
    def shares(self) -> list[Share]:
        models = (self.first, self.second, None, None)
        return [
            Share(choice.value, model, n, round(100 * n / self.people) if n else 0, choice == self.owners_choice)
            for choice, model, n in zip(_CHOICES, models, self.counts, strict=True)
        ]


_CHOICES = (Vote.Choice.LEFT, Vote.Choice.RIGHT, Vote.Choice.TIE, Vote.Choice.BOTH_BAD)


def read_spread(review: Review) -> Spread:
    """Return how the people voted, without the owner. Call this only where the results are shown."""
    item = review.items.select_related("first_model", "second_model").get()
    votes = Vote.objects.filter(series=review.public_id, excluded_reason="")
    tally = dict.fromkeys(_CHOICES, 0)
    for left, choice in votes.values_list("model_left", "choice"):
        tally[_turned(choice, is_turned=left != item.first_model_id)] += 1
    owners = Vote.objects.filter(battle=review.battle_id).values_list("choice", flat=True).first()
    left, right, tie, both_bad = tally.values()
    return Spread(item.first_model, item.second_model, (left, right, tie, both_bad), owners or "")


def _turned(choice: str, *, is_turned: bool) -> Vote.Choice:
    """Return the choice as if the first model had been on the left."""
    sides = {Vote.Choice.LEFT: Vote.Choice.RIGHT, Vote.Choice.RIGHT: Vote.Choice.LEFT}
    value = Vote.Choice(choice)
    return sides.get(value, value) if is_turned else value


@dataclass(frozen=True)
class SiteAgreement:
    """How often two people name the same winner, with its 95 % interval, as shares; pairs: of people on a battle.

    people: different ones.
    """

    value: float
    low: float
    high: float
    pairs: int
    battles: int
    people: int

    @property
    def percents(self) -> Mapping[str, int]:
        return {name: round(100 * getattr(self, name)) for name in ("value", "low", "high")}


def read_site_agreement() -> SiteAgreement | None:
    """Return agreement over all second opinions of the site, teams left out; None while there are few.

    The owner's vote is one of the opinions if it was blind and counts. "Tie" and "both bad" are one category.
    """
    of_people = (
        ReviewBattle.objects.filter(review__battle__isnull=False, review__team=None)
        .filter(Q(battle__vote__excluded_reason="") & Q(battle__vote__isnull=False))
        .values_list("review__battle", "battle__vote__voter", "battle__vote__choice")
        .annotate(is_turned=~Q(battle__vote__model_left=F("review_item__first_model")))
    )
    rows = list(of_people)
    asked = Battle.objects.filter(pk__in={battle for battle, *_ in rows}, vote__excluded_reason="")
    rows += [(*row, False) for row in asked.values_list("pk", "vote__voter", "vote__choice")]
    people = Counter(battle for battle, *_ in rows)
    if sum(n * (n - 1) // 2 for n in people.values()) < MIN_PAIRS:
        return None
    # These are imported late: they import scipy, which few processes need.
    import numpy as np

    from benchmarks.statistics.agreement import LEFT, RIGHT, TIE, Opinions, pairs_within, raw_agreement

    categories = {Vote.Choice.LEFT: LEFT, Vote.Choice.RIGHT: RIGHT}
    battles = np.array([battle for battle, *_ in rows])
    raters = np.unique(np.array([voter for _, voter, *_ in rows]), return_inverse=True)[1]
    named = [categories.get(_turned(choice, is_turned=turned), TIE) for _, _, choice, turned in rows]
    pairs = pairs_within(Opinions(battles, raters, np.array(named), battles))
    raw = raw_agreement(pairs)
    return SiteAgreement(raw.value, raw.low, raw.high, raw.n, raw.cases, len(np.unique(raters)))


site_agreement = TTLCached(read_site_agreement, ttl_s=_CACHE_S)
