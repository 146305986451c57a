"""Figures of reviews, none of which tells the winners."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from django.db.models import Count, Max, Q, QuerySet, Sum
from django.db.models.functions import Least

from accounts.actor import Actor
from battles.models import Vote
from reviews import access
from reviews.models import Review, ReviewBattle

LISTED = 100
# A pause between two votes that is longer counts as a break.
MAX_BETWEEN_S = 600
PER_ESTIMATE = 10


@dataclass(frozen=True)
class Own:
    """A person's part. most: battles for them. minutes: that PER_ESTIMATE votes take, if known."""

    voted: int
    most: int
    minutes: int | None

    @property
    def percent(self) -> int:
        return min(100, 100 * self.voted // self.most) if self.most else 0


def read_own(actor: Actor, review: Review) -> Own:
    mine = ReviewBattle.objects.filter(review=review, person=actor.key)
    ended = list(mine.filter(ended_at__isnull=False).order_by("ended_at").values_list("ended_at", flat=True))
    most = min(review.item_count, review.most_per_person or review.item_count)
    return Own(len(ended), most, _minutes([moment for moment in ended if moment is not None]))


def _minutes(ends: Sequence[datetime]) -> int | None:
    """Return minutes that ten votes take, from the times between votes; None from less than three."""
    gaps = [(later - earlier).total_seconds() for earlier, later in pairwise(ends)]
    typical = sorted(gap for gap in gaps if gap <= MAX_BETWEEN_S)
    if len(typical) < 2:
        return None
    return max(1, round(typical[len(typical) // 2] * PER_ESTIMATE / 60))


@dataclass(frozen=True)
class Person:
    number: int
    opinions: int
    knew: int
    last_at: datetime | None


@dataclass(frozen=True)
class Progress:
    """wanted: opinions. under_way: battles that people have before them. people: those with most opinions first."""

    opinions: int
    wanted: int
    under_way: int
    people_count: int
    knew: int
    people: list[Person]

    @property
    def percent(self) -> int:
        return min(100, 100 * self.opinions // self.wanted) if self.wanted else 0


def read_progress(review: Review) -> Progress:
    most = review.opinions_per_item
    sums = review.items.aggregate(taken=Sum(Least("opinions", most)), leases=Sum("leases"))
    counts, knew = Q(ended_at__isnull=False, knew_answers=False), Q(ended_at__isnull=False, knew_answers=True)
    rows = (
        ReviewBattle.objects.filter(review=review, battle__vote__isnull=False)
        .values("person")
        .annotate(opinions=Count("pk", filter=counts), known=Count("pk", filter=knew), last=Max("ended_at"))
        .order_by("-opinions", "person")
    )
    people = [Person(number, row["opinions"], row["known"], row["last"]) for number, row in enumerate(rows, start=1)]
    return Progress(
        opinions=sums["taken"] or 0, wanted=most * review.item_count, under_way=sums["leases"] or 0,
        people_count=len(people), knew=sum(person.knew for person in people), people=people[:LISTED],
    )  # fmt: skip


@dataclass(frozen=True)
class Totals:
    """counted, excluded: votes. people: whose votes count."""

    counted: int
    excluded: list[tuple[str, int]]
    people: int


def read_totals(review: Review) -> Totals:
    """Call this only where the results are shown."""
    votes = Vote.objects.filter(series=review.public_id)
    excluded = votes.exclude(excluded_reason="").order_by().values_list("excluded_reason")
    counted = votes.filter(excluded_reason="")
    return Totals(
        counted.count(),
        sorted(excluded.annotate(n=Count("pk"))),
        counted.aggregate(n=Count("voter", distinct=True))["n"],
    )


@dataclass(frozen=True)
class Lists:
    asked: QuerySet[Review]
    own: QuerySet[Review]


def list_reviews(actor: Actor) -> Lists:
    """Return reviews that ask the person and take votes now or later, and their own and their teams'."""
    related = ("team", "run__version__template")
    asked = access.asked_reviews(actor).select_related(*related).order_by("closes_at", "-opened_at", "pk")
    own = access.owned_reviews(actor).select_related(*related).order_by("-created_at", "-pk")
    return Lists(asked, own)


def voted_by(actor: Actor, reviews: Sequence[Review]) -> dict[int, int]:
    """Return numbers of the person's ended battles, by review."""
    ended = ReviewBattle.objects.filter(review__in=reviews, person=actor.key, ended_at__isnull=False)
    counted = dict(ended.values_list("review").annotate(n=Count("pk")).order_by())
    return {review.pk: counted.get(review.pk, 0) for review in reviews}
