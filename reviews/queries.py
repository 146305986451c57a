"""Figures of reviews, none of which tells the winners."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from django.db.models import Count, Q, QuerySet, Sum, Value
from django.db.models.functions import Least
from django.utils.translation import ngettext

from accounts.actor import Actor
from battles.models import Vote
from models_registry.models import LanguageModel
from reviews import access
from reviews.actions.contrasts import decided_pairs, items_of
from reviews.actions.joining import most_of_a_network, networks_forgotten
from reviews.models import Review, ReviewBattle, ReviewGrade

# A pause between two votes that is longer counts as a break.
MAX_BETWEEN_S = 600
PER_ESTIMATE = 10
KNEW_ANSWERS = Vote.ExcludedReason.KNEW_ANSWERS


@dataclass(frozen=True)
class Own:
    """A person's part. most: battles or answers for them. minutes: that PER_ESTIMATE votes take, if known."""

    voted: int
    most: int
    minutes: int | None

    @property
    def percent(self) -> int:
        return min(100, 100 * self.voted // self.most) if self.most else 0


def read_own(actor: Actor, review: Review) -> Own:
    moments = access.ended_votes(actor, review).order_by("ended_at")
    ended = list(moments.values_list("ended_at", flat=True))
    return Own(len(ended), review.most_votes_of_a_person, _minutes([moment for moment in ended if moment is not None]))


def _minutes(ends: Sequence[datetime]) -> int | None:
    """Return minutes that ten votes take, from the times between votes; None from less than three."""
    gaps = [(later - earlier).total_seconds() for earlier, later in pairwise(ends)]
    typical = sorted(gap for gap in gaps if gap <= MAX_BETWEEN_S)
    if len(typical) < 2:
        return None
    return max(1, round(typical[len(typical) // 2] * PER_ESTIMATE / 60))


@dataclass(frozen=True)
class Progress:
    """wanted: opinions. under_way: battles that people have before them. people_count: those with a vote."""

    opinions: int
    wanted: int
    under_way: int
    people_count: int
    knew: int
    contrasts: int = 0
    decided: int = 0

    @property
    def percent(self) -> int:
        return min(100, 100 * self.opinions // self.wanted) if self.wanted else 0


def read_progress(review: Review) -> Progress:
    if review.is_graded:
        return _progress_of_grades(review)
    most = review.opinions_per_item
    sums = review.items.aggregate(taken=Sum(Least("opinions", most)), leases=Sum("leases"))
    voted = review.battles.filter(battle__vote__isnull=False).aggregate(
        people=Count("person", distinct=True), knew=Count("pk", filter=Q(knew_answers=True))
    )
    decided = decided_pairs(review)
    missing = Value(most) - Least("opinions", most)
    unasked = review.items.filter(items_of(decided)).aggregate(n=Sum(missing))["n"] or 0 if decided else 0
    return Progress(
        opinions=sums["taken"] or 0, wanted=most * review.item_count - unasked, under_way=sums["leases"] or 0,
        people_count=voted["people"], knew=voted["knew"],
        contrasts=review.contrasts.count() if review.has_stop_rule else 0, decided=len(decided),
    )  # fmt: skip


def _progress_of_grades(review: Review) -> Progress:
    most = review.opinions_per_item
    sums = review.answers.aggregate(taken=Sum(Least("grades", most)), leases=Sum("leases"))
    given = review.grades.filter(value__isnull=False).aggregate(
        people=Count("person", distinct=True), knew=Count("pk", filter=Q(excluded_reason=KNEW_ANSWERS))
    )
    return Progress(
        opinions=sums["taken"] or 0, wanted=most * review.item_count, under_way=sums["leases"] or 0,
        people_count=given["people"], knew=given["knew"],
    )  # fmt: skip


@dataclass(frozen=True)
class Totals:
    """counted, excluded: votes or grades. people: whose votes or grades count."""

    counted: int
    excluded: list[tuple[str, int]]
    people: int


def read_totals(review: Review) -> Totals:
    """Call this only where the results are shown."""
    given: QuerySet[Vote] | QuerySet[ReviewGrade] = Vote.objects.filter(series=review.public_id)
    if review.is_graded:
        given = review.grades.filter(value__isnull=False)
    excluded = given.exclude(excluded_reason="").order_by().values_list("excluded_reason")
    counted = given.filter(excluded_reason="")
    return Totals(
        counted.count(),
        sorted(excluded.annotate(n=Count("pk"))),
        counted.aggregate(n=Count("person" if review.is_graded else "voter", distinct=True))["n"],
    )


def retired_models(review: Review) -> list[LanguageModel]:
    pairs, answers = review.items.order_by(), review.answers.order_by()
    of_review = Q(pk__in=pairs.values("first_model")) | Q(pk__in=pairs.values("second_model"))
    of_review |= Q(pk__in=answers.values("item__entrant__model"))
    retired = LanguageModel.of_every_owner.filter(of_review, status=LanguageModel.Status.RETIRED)
    return list(retired.select_related("team").order_by("name", "pk"))


def joined_sentence(review: Review, people: int) -> str:
    """Return how people with counted votes came to a review by codes, "" for other audiences."""
    is_open = review.audience == Review.Audience.LINK and review.state != Review.State.CLOSED
    most = most_of_a_network(review) if is_open else review.most_of_a_network
    return people_sentence(review.audience, people, most, is_least=networks_forgotten(review) > 0)


def people_sentence(audience: str, people: int, most: int | None, *, is_least: bool = False) -> str:
    """Return joined_sentence for an audience. most: people from one network, if known; is_least: there may be more."""
    if audience == Review.Audience.CODES:
        sentence = ngettext(
            "%(n)d person by a personal code, not verified.", "%(n)d people by personal codes, not verified.", people
        )
        return sentence % {"n": people}
    if audience != Review.Audience.LINK:
        return ""
    if most is None:
        sentence = ngettext("%(n)d person by link, not verified.", "%(n)d people by link, not verified.", people)
        return sentence % {"n": people}
    if is_least:
        sentence = ngettext(
            "%(n)d person by link, at least %(most)d from one network, not verified.",
            "%(n)d people by link, at least %(most)d from one network, not verified.",
            people,
        )
        return sentence % {"n": people, "most": min(most, people)}
    sentence = ngettext(
        "%(n)d person by link, %(most)d from one network, not verified.",
        "%(n)d people by link, %(most)d from one network, not verified.",
        people,
    )
    return sentence % {"n": people, "most": min(most, people)}


@dataclass(frozen=True)
class Lists:
    asked: QuerySet[Review]
    own: QuerySet[Review]


def list_reviews(actor: Actor) -> Lists:
    """Return reviews that ask the person and take votes now or later, and their own and their teams'."""
    related = ("team", "run__version__template", "battle")
    asked = access.asked_reviews(actor).select_related(*related).order_by("closes_at", "-opened_at", "pk")
    own = access.owned_reviews(actor).select_related(*related).order_by("-created_at", "-pk")
    return Lists(asked, own)


def voted_by(actor: Actor, reviews: Sequence[Review]) -> dict[int, int]:
    """Return numbers of the person's ended battles and grades, by review."""
    mine = Q(person=actor.key)
    if with_rule := [review for review in reviews if review.has_stop_rule]:
        mine |= Q(person__in=access.keys_in(with_rule[0], actor), review__in=with_rule)
    ended = {"review__in": reviews, "ended_at__isnull": False}
    battles = ReviewBattle.objects.filter(mine, **ended, repeats=None).values_list("review").annotate(n=Count("pk"))
    grades = ReviewGrade.objects.filter(mine, **ended).values_list("review").annotate(n=Count("pk"))
    counted = dict(battles.order_by().union(grades.order_by()))
    return {review.pk: counted.get(review.pk, 0) for review in reviews}
