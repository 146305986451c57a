"""A review from its draft to its end. Every change of a state locks the review's row."""

import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TypedDict, Unpack

from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.actor import Actor
from accounts.models import Team, User
from battles.actions.stored_battles import show_names
from benchmarks.models import Run
from common.errors import ArenaError, InvalidInput
from reviews.actions.contrasts import (
    decided_pairs,
    end_people,
    evaluate,
    find_pairs,
    forget_people,
    items_of,
    names_of,
    read_contrasts,
    replace_contrasts,
    require_items,
)
from reviews.actions.joining import make_codes, most_of_a_network
from reviews.actions.pairs import cases_of, read_answers, read_pairs
from reviews.errors import NothingToReview, ReviewState
from reviews.models import GradedAnswer, Review, ReviewItem, RunReader
from reviews.payload_types import QuestionPayload
from reviews.publishing import publish_after_commit
from reviews.questions import problem_of

BATCH = 2_000


class ReviewTerms(TypedDict, total=False):
    """contrasts: slugs of two models each. baseline: of one that all others are compared with."""

    title: str
    instructions: str
    audience: str
    asks_for: str
    plan: str
    cases: int | None
    opinions_per_item: int
    most_per_person: int | None
    takes_ties: bool
    takes_both_bad: bool
    names_after_vote: bool
    hides_results: bool
    expected_people: int | None
    repeats_percent: int
    gold_percent: int
    least_seconds: int
    stop_share: int | None
    stop_level: int
    contrasts: Sequence[Sequence[str]]
    baseline: str
    questions: list[QuestionPayload]
    opens_at: datetime | None
    closes_at: datetime | None


# What may change while people vote.
def changeable(review: Review) -> set[str]:
    return {"title"} if review.keeps_deadline else {"title", "closes_at"}


def create_review(
    *,
    owner: User,
    run: Run,
    may_be_under_way: bool = False,
    opens_when_done: bool = False,
    **terms: Unpack[ReviewTerms],
) -> Review:
    """Store a draft in the run's place. Raises InvalidInput, and ReviewState for a run that has not ended."""
    if not may_be_under_way:
        _require_ended(run)
    defaults: dict[str, str] = {"audience": Review.Audience.MEMBERS if run.team_id is None else Review.Audience.TEAM}
    defaults["title"] = (run.name or run.version.template.name)[:120]
    named, baseline = terms.pop("contrasts", []), terms.pop("baseline", "")
    review = Review(
        owner=owner, run=run, team=run.team, seed=secrets.randbits(32), opens_when_done=opens_when_done,
        **{**defaults, **terms},
    )  # fmt: skip
    pairs = find_pairs(review, named, baseline)
    _check(review, run.team, contrasts=len(pairs))
    with transaction.atomic():
        review.save()
        replace_contrasts(review, pairs)
    review.refresh_from_db(fields=["created_at"])
    return review


def _require_ended(run: Run) -> None:
    if run.state not in (Run.State.DONE, Run.State.CANCELLED):
        raise ReviewState(_("The run has not ended. Wait until it has all its answers."))


@transaction.atomic
def change_review(review: Review, **terms: Unpack[ReviewTerms]) -> Review:
    """Raises ReviewState for terms that people are already asked under, and InvalidInput."""
    stored = Review.objects.lock(review.pk)
    contrasts = _changed_contrasts(stored, terms)
    changed = {name for name, value in terms.items() if getattr(stored, name) != value}
    if stored.state == Review.State.OPEN and (contrasts is not None or not changed <= changeable(stored)):
        if stored.keeps_deadline:
            raise ReviewState(
                _("This open review changes only its title: its deadline stays, since its results so far are shown.")
            )
        raise ReviewState(_("An open review changes only its title and its deadline."))
    if (changed or contrasts is not None) and stored.state not in (Review.State.DRAFT, Review.State.OPEN):
        raise ReviewState
    for name in changed:
        setattr(stored, name, terms[name])  # type: ignore[literal-required]
    pairs = None if contrasts is None else find_pairs(stored, *contrasts)
    _check(stored, stored.team, contrasts=stored.contrasts.count() if pairs is None else len(pairs))
    if changed:
        stored.save(update_fields=sorted(changed))
    if pairs is not None:
        replace_contrasts(stored, pairs)
    return stored


def _changed_contrasts(review: Review, terms: ReviewTerms) -> tuple[Sequence[Sequence[str]], str] | None:
    """Take contrasts and baseline from the terms; None if they are as stored."""
    named, baseline = terms.pop("contrasts", None), terms.pop("baseline", "")
    stored = names_of(read_contrasts(review))
    if named is None:
        is_ended = terms.get("stop_share", review.stop_share) is None
        named = [] if is_ended and not baseline else stored
    if not baseline and {tuple(pair) for pair in named} == {tuple(pair) for pair in stored}:
        return None
    return named, baseline


def _check(review: Review, team: Team | None, *, contrasts: int) -> None:
    """Raise InvalidInput for terms that contradict each other."""
    problems: dict[str, list[str]] = {}
    if (review.audience in Review.OF_TEAMS) != (team is not None) and review.audience != Review.Audience.OWNER:
        sentence = _("A review of a team asks the team.") if team else _("Only a review of a team asks a team.")
        problems["audience"] = [sentence]
    is_held_out = review.run is not None and review.run.version.template.held_out
    if is_held_out and review.audience not in Review.OF_TEAMS:
        problems["audience"] = [_("The template is held out: others must not see its questions.")]
    if review.audience in Review.JOINED and review.expected_people is None:
        problems["expected_people"] = [_("Say how many people you expect: no more can join.")]
    problems |= _problems_of_rule(review, contrasts)
    if review.is_graded and (review.stop_share or review.questions or review.gold_percent):
        problems["asks_for"] = [_("Only comparisons have a stop rule, questions and gold pairs.")]
    if problem := problem_of(review.questions):
        problems["questions"] = [problem]
    if review.closes_at is not None:
        if review.closes_at <= timezone.now():
            problems["closes_at"] = [_("Choose a time in the future.")]
        elif review.opens_at is not None and review.closes_at <= review.opens_at:
            problems["closes_at"] = [_("Choose a time after the opening.")]
    if problems:
        raise InvalidInput(fields=problems)


def _problems_of_rule(review: Review, contrasts: int) -> dict[str, list[str]]:
    if review.stop_share is None:
        sentence = _("Say which difference matters, 60 : 40 for example, or choose no pairs for the stop rule.")
        return {"stop_share": [sentence]} if contrasts else {}
    if review.plan == Review.Plan.ADAPTIVE:
        return {"stop_share": [_("This plan looks at who leads, so it has no stop rule. Choose another plan.")]}
    if not contrasts:
        return {"contrasts": [_("Choose the pairs of models, or the baseline, about which the stop rule decides.")]}
    return {}


@transaction.atomic
def open_review(review: Review) -> Review:
    """Store the pairs or answers, and take votes. Raises ReviewState, NothingToReview and InvalidInput."""
    review = Review.objects.lock(review.pk)
    if review.state != Review.State.DRAFT or review.run is None:
        raise ReviewState
    _check(review, review.team, contrasts=review.contrasts.count())
    _require_ended(Run.objects.lock(review.run.pk))  # nor is it asked again meanwhile
    if review.cases is not None and review.cases >= len(cases_of(review.run)):
        review.cases = None  # all of them
    review.item_count, left_out = _store_answers(review) if review.is_graded else _store_pairs(review)
    review.left_out = {reason: n for reason, n in left_out.items() if n}
    review.state, review.opened_at = Review.State.OPEN, timezone.now()
    _note_readers_elsewhere(review.run)
    make_codes(review)
    review.save(update_fields=["cases", "item_count", "left_out", "state", "opened_at", "code"])
    return review


def _note_readers_elsewhere(run: Run) -> None:
    """Note owners and readers of other runs with the same answers."""
    others = Run.objects.sharing_answers(run)
    owners = User.objects.filter(pk__in=others.values("owner"))
    keys = {Actor(user=user).key for user in owners}
    keys.update(RunReader.objects.filter(run__in=others.values("pk")).values_list("person", flat=True))
    RunReader.objects.bulk_create([RunReader(run=run, person=key) for key in keys], ignore_conflicts=True)


def open_due() -> None:
    """Open drafts whose runs are done. One that is refused stays a draft, and its owner opens it."""
    for review in Review.objects.due_to_open().order_by("pk"):
        try:
            open_review(review)
        except ArenaError:
            Review.objects.filter(pk=review.pk).update(opens_when_done=False)


def _store_pairs(review: Review) -> tuple[int, Mapping[str, int]]:
    """Return the number of pairs, and those left out. Raises NothingToReview."""
    pairs = read_pairs(review)
    if not pairs.items:
        if review.cases is not None:
            raise NothingToReview(_("None of the drawn questions has two whole answers of different models."))
        raise NothingToReview(_("The run has no two whole answers of different models to the same prompt."))
    if len(pairs.items) > Review.MAX_ITEMS:
        sentence = _("A review has at most %(most)s pairs, this one would have %(n)s. Ask about fewer questions.")
        raise NothingToReview(sentence % {"most": Review.MAX_ITEMS, "n": len(pairs.items)})
    ReviewItem.objects.bulk_create(pairs.items, batch_size=BATCH)
    require_items(review)
    return len(pairs.items), pairs.left_out


def _store_answers(review: Review) -> tuple[int, Mapping[str, int]]:
    """Return the number of answers to grade, and those left out. Raises NothingToReview."""
    answers = read_answers(review)
    if not answers.items:
        if review.cases is not None:
            raise NothingToReview(_("None of the drawn questions has a whole answer that does not name its model."))
        raise NothingToReview(_("The run has no whole answer that does not name its model."))
    if len(answers.items) > Review.MAX_ITEMS:
        sentence = _("A review has at most %(most)s answers, this one would have %(n)s. Ask about fewer questions.")
        raise NothingToReview(sentence % {"most": Review.MAX_ITEMS, "n": len(answers.items)})
    GradedAnswer.objects.bulk_create(answers.items, batch_size=BATCH)
    return len(answers.items), answers.left_out


@transaction.atomic
def close_review(review: Review, *, by: Review.Ending = Review.Ending.OWNER) -> Review:
    """Take no more votes, and publish the results. Raises ReviewState."""
    review = Review.objects.lock(review.pk)
    if review.state != Review.State.OPEN:
        raise ReviewState
    review.state, review.ended_by, review.ended_at = Review.State.CLOSED, by, timezone.now()
    review.code, review.most_of_a_network = "", most_of_a_network(review)
    review.save(update_fields=["state", "ended_by", "ended_at", "code", "most_of_a_network"])
    show_names(review.public_id)
    _end_everyone(review)
    if not review.is_graded:
        publish_after_commit(review)
    return review


def _end_everyone(review: Review) -> None:
    if not review.has_stop_rule:
        return
    # The owner may have seen results, so people under way at the owner's close do not move the rule.
    if review.ended_by in (Review.Ending.DEADLINE, Review.Ending.QUOTA):
        end_people(review.reviewers.all())
    else:
        forget_people(review)
    evaluate(review)  # votes may have been excluded since the last end


def close_due() -> None:
    """Close reviews whose deadline is over."""
    for review in Review.objects.past_deadline().order_by("pk"):
        _close_if_open(review, Review.Ending.DEADLINE)


def close_complete(review: Review) -> None:
    """Close the review if every pair that is still drawn has its opinions, or every answer its grades."""
    most = review.opinions_per_item
    if review.is_graded:
        is_complete = not review.answers.filter(grades__lt=most, item__isnull=False).exists()
    else:
        drawn = review.items.exclude(items_of(decided_pairs(review)))
        is_complete = not drawn.filter(opinions__lt=most).exists()
    if is_complete:
        _close_if_open(review, Review.Ending.QUOTA)


def close_all_complete() -> None:
    """Close complete reviews that are still open: a process may have been killed between a vote and the close."""
    short = ReviewItem.objects.filter(review=OuterRef("pk"), opinions__lt=OuterRef("opinions_per_item"))
    ungraded = GradedAnswer.objects.filter(
        review=OuterRef("pk"), grades__lt=OuterRef("opinions_per_item"), item__isnull=False
    )
    # Pairs of a decided contrast may be short of opinions.
    may_be_complete = Review.objects.open().filter(~Exists(short) | Q(stop_share__isnull=False), ~Exists(ungraded))
    for review in may_be_complete.order_by("pk"):
        close_complete(review)


def keep_from_ending(public_id: str) -> None:
    """Lock the review until COMMIT beside others who vote, so that its close has this vote; not a second opinion."""
    # Copies of a second opinion are deleted under a lock of their review.
    with connection.cursor() as cursor:
        cursor.execute("SELECT FROM reviews_review WHERE public_id = %s AND battle_id IS NULL FOR SHARE", [public_id])


def _close_if_open(review: Review, by: Review.Ending) -> None:
    try:
        close_review(review, by=by)
    except ReviewState:
        return  # another process closed it


@transaction.atomic
def withdraw_review(review: Review) -> Review:
    """End a review without results; its votes stay in the log. Raises ReviewState."""
    review = Review.objects.lock(review.pk)
    if review.state not in (Review.State.OPEN, Review.State.CLOSED):
        raise ReviewState
    review.state, review.ended_at, review.code = Review.State.WITHDRAWN, timezone.now(), ""
    review.save(update_fields=["state", "ended_at", "code"])
    show_names(review.public_id)
    forget_people(review)
    return review


def delete_review(review: Review) -> None:
    """Delete a draft. Raises ReviewState for others, whose votes need it."""
    if not Review.objects.filter(pk=review.pk, state=Review.State.DRAFT).delete()[0]:
        raise ReviewState


def forget_run(run: Run) -> None:
    """Delete drafts of a run that is being deleted, and let ended reviews go on without its answers."""
    Review.objects.filter(run=run, state=Review.State.DRAFT).delete()
    items = ReviewItem.objects.filter(review__run=run)
    items.update(case=None, first_item=None, second_item=None)
    GradedAnswer.objects.filter(review__run=run).update(item=None)
    Review.objects.filter(run=run).update(run=None)
