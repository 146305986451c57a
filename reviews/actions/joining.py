"""Joining a review by the code of its link, or by a code for one person."""

from datetime import timedelta

from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from accounts.actor import Actor
from common.client_ip import kept_network_days, lasting_hash, network_of
from common.valkey import limits
from reviews.codes import new_code, parse_code
from reviews.errors import NoSuchCode, PersonalCodeUsed, ReviewFull, ReviewState
from reviews.models import PersonalCode, Review, Reviewer


def find_by_code(typed: str, keys: limits.Keys) -> Review:
    """Return the open review of a code. Counts wrong codes of the networks `keys`, not right ones.

    Raises NoSuchCode, TooManyRequests, and ServiceAway when Valkey is away.
    """
    limits.require_room("join", keys)  # counted first, people of a class at the same moment would fill the limit
    code = parse_code(typed)
    review = _review_of(code) if code else None
    if review is None:
        limits.count("join", keys, fail_open=False)
        raise NoSuchCode
    return review


def _review_of(code: str) -> Review | None:
    takes_votes = Review.objects.joinable()
    return takes_votes.filter(code=code).first() or takes_votes.filter(personal_codes__code=code).first()


@transaction.atomic
def join_review(actor: Actor, review: Review, *, code: str, nickname: str = "") -> Reviewer:
    """Let the person in by a code that find_by_code found. A person who has joined stays as they are.

    Raises NoSuchCode if it was replaced meanwhile, PersonalCodeUsed and ReviewFull.
    """
    code = parse_code(code)
    review = Review.objects.lock(review.pk)  # people at the same moment are counted one after the other
    joined = Reviewer.objects.filter(review=review, person=actor.key).first()
    if joined is not None:
        return joined
    if review.state != Review.State.OPEN:
        raise NoSuchCode
    personal = None
    if review.audience == Review.Audience.CODES:
        personal = PersonalCode.objects.filter(review=review, code=code).first()
        if personal is None:
            raise NoSuchCode
        if personal.used_at is not None:
            raise PersonalCodeUsed
    elif not code or code != review.code:
        raise NoSuchCode
    elif review.reviewers.count() >= (review.expected_people or 0):
        raise ReviewFull
    # People join over months: a monthly hash would count those of one network as of several.
    network = lasting_hash(network_of(actor.address), f"review:{review.public_id}")
    reviewer = Reviewer.objects.create(review=review, person=actor.key, nickname=nickname, network=network)
    if personal is not None:
        personal.used_by, personal.used_at = reviewer, timezone.now()
        personal.save(update_fields=["used_by", "used_at"])
    return reviewer


def make_codes(review: Review) -> None:
    """Give a review that opens its code, or those of its people. In the transaction of the opening."""
    if review.audience == Review.Audience.LINK:
        review.code = new_code()
    elif review.audience == Review.Audience.CODES:
        expected = review.expected_people or 0
        codes: set[str] = set()
        while len(codes) < expected:
            codes.add(new_code())
        PersonalCode.objects.bulk_create([PersonalCode(review=review, code=code) for code in sorted(codes)])


def renew_code(review: Review) -> Review:
    """Replace the code, also a closed link's: the old one no longer works, people who joined stay."""
    return _set_code(review, new_code())


def close_link(review: Review) -> Review:
    return _set_code(review, "")


@transaction.atomic
def _set_code(review: Review, code: str) -> Review:
    """Raises ReviewState."""
    review = Review.objects.lock(review.pk)
    if review.state != Review.State.OPEN or review.audience != Review.Audience.LINK:
        raise ReviewState
    review.code = code
    review.save(update_fields=["code"])
    return review


def _people_who_count(review: Review) -> QuerySet[Reviewer]:
    graded = review.grades.filter(value__isnull=False, excluded_reason="").values("person")
    voted = review.battles.filter(battle__vote__excluded_reason="").values("person")
    return Reviewer.objects.filter(review=review, person__in=graded if review.is_graded else voted)


def most_of_a_network(review: Review) -> int | None:
    """Return the largest number of people with counted votes from one network; None if no network is known."""
    joined = _people_who_count(review).exclude(network="")
    most = joined.order_by().values("network").annotate(n=Count("pk")).order_by("-n").first()
    return None if most is None else most["n"]


def networks_forgotten(review: Review) -> int:
    """Return the number of people that most_of_a_network does not know."""
    if not review.is_joined:
        return 0
    people = _people_who_count(review)
    if review.ended_at is None:
        return people.filter(network="").count()
    # The number was stored at the end; since then, more hashes were deleted.
    oldest = review.ended_at - timedelta(days=kept_network_days())
    return people.filter(Q(joined_at__lt=oldest) | Q(person__startswith="deleted:")).count()
