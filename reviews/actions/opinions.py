from collections.abc import Collection, Sequence
from datetime import timedelta
from functools import partial

from django.db import transaction
from django.db.models import Count, F
from django.utils import timezone

from accounts.actor import Actor, actor_keys
from battles.models import Battle, Vote
from reviews import access
from reviews.actions.lifecycle import close_complete, keep_from_ending
from reviews.actions.stopping import decide_anew, end_if_done, wait_for
from reviews.errors import ReviewTakesNoVotes
from reviews.models import ReviewBattle, Reviewer, ReviewItem
from reviews.questions import checked_answers


def count_opinion(vote: Vote, answers: Sequence[int | None] = ()) -> None:
    """Note the opinion in the transaction that stores its vote. Raises ReviewTakesNoVotes, which refuses the vote.

    answers: to the review's questions. Raises InvalidInput for others than it asks for.
    A vote with a reason not to count is kept.
    """
    keep_from_ending(vote.series)
    drawn = (
        ReviewBattle.objects.select_for_update(of=("self",))
        .select_related("review__run", "battle__session__owner_user", "battle__session__owner_visitor")
        .filter(battle=vote.battle_id, ended_at=None)
        .first()
    )
    if drawn is None or drawn.battle is None:
        return
    if not drawn.review.takes_votes:
        raise ReviewTakesNoVotes
    session = drawn.battle.session
    voter = Actor(user=session.owner_user, visitor=session.owner_visitor)
    drawn.knew_answers = access.knows_answers(voter, drawn.review)
    drawn.answers = checked_answers(drawn.review.questions, answers)
    reason = vote.excluded_reason or _reason_not_to_count(voter, drawn, drawn.battle)
    released, counted = int(drawn.lease_until is not None), int(not reason)
    drawn.lease_until, drawn.ended_at = None, timezone.now()
    drawn.save(update_fields=["knew_answers", "answers", "lease_until", "ended_at"])
    if reason:
        vote.excluded_reason = reason
        vote.save(update_fields=["excluded_reason"])
    else:
        wait_for(drawn.review, drawn.person, begins=True)
    moved = {"leases": F("leases") - released, "opinions": F("opinions") + counted}
    ReviewItem.objects.filter(pk=drawn.review_item_id).update(**moved)
    transaction.on_commit(partial(end_if_done, drawn.review, drawn.person))
    transaction.on_commit(partial(close_complete, drawn.review))


def move_opinions(votes: Collection[Vote], step: int) -> None:
    """Ask others for opinions that no longer count, step -1, and the reverse."""
    counted = ReviewBattle.objects.filter(battle__in=[vote.battle_id for vote in votes], repeats=None)
    # The order of the sweep, which updates many items, too.
    for item, n in counted.order_by("review_item").values_list("review_item").annotate(n=Count("pk")):
        ReviewItem.objects.filter(pk=item).update(opinions=F("opinions") + step * n)
    # Not under the lock of the tallies, which votes are changed under: other changes take that lock after the review's.
    for series in {vote.series for vote in votes}:
        transaction.on_commit(partial(decide_anew, series))


def _reason_not_to_count(voter: Actor, drawn: ReviewBattle, battle: Battle) -> str:
    reasons = Vote.ExcludedReason
    if drawn.knew_answers:
        return reasons.KNEW_ANSWERS
    if drawn.gold_model_id is not None:
        return reasons.GOLD
    if drawn.repeats_id is not None or _has_opinion(voter, drawn):
        return reasons.REPEATED
    if timezone.now() - battle.created_at < timedelta(seconds=drawn.review.least_seconds):
        return reasons.TOO_FAST
    # The lock: a person is set aside before this vote, or together with it.
    person = Reviewer.objects.select_for_update().filter(review=drawn.review, person=drawn.person).first()
    return reasons.SET_ASIDE if person is not None and person.set_aside_at is not None else ""


def _has_opinion(voter: Actor, drawn: ReviewBattle) -> bool:
    """Return whether a member has another opinion on the pair that counts, from before or after signing in."""
    if voter.user is None:
        return False
    counted = ReviewBattle.objects.filter(review_item=drawn.review_item_id, battle__vote__excluded_reason="")
    return counted.filter(person__in=actor_keys(voter.user), repeats=None).exclude(pk=drawn.pk).exists()
