"""What staff change about the boards: whether votes count, and when they are counted. All of it is audited."""

from celery import Task
from celery.exceptions import CeleryError
from django.db import transaction
from django.utils.translation import gettext as _
from kombu.exceptions import OperationalError

from accounts import audit
from accounts.errors import NeedsAdministrator
from accounts.models import User
from accounts.staff_rights import is_administrator, protected_voters
from battles.models import Vote, VoteQuerySet
from leaderboard import tasks
from leaderboard.counting import reviews, schedule
from leaderboard.counting.vote_changes import put_back, set_aside
from leaderboard.errors import VoteCounts, VoteDoesNotCount
from leaderboard.models import AnomalyReview


@transaction.atomic
def retract(vote: Vote, *, reason: Vote.ExcludedReason, by: User | None, because: str = "") -> None:
    """Count a vote no more, as if it had never been counted; it stays in the log with its reason.

    A vote that is still pending keeps its place in the queue: the next run sets it aside.
    Raises VoteDoesNotCount, and TalliesDisagree when the tallies never held it.
    """
    if not retract_votes(Vote.objects.filter(pk=vote.pk), reason=reason, by=by, because=because):
        raise VoteDoesNotCount


@transaction.atomic
def restore(vote: Vote, *, by: User | None, because: str = "") -> None:
    """The mirror of retract: the vote counts from now on. Raises VoteCounts."""
    if not restore_votes(Vote.objects.filter(pk=vote.pk), by=by, because=because):
        raise VoteCounts


@transaction.atomic
def retract_votes(
    votes: VoteQuerySet, *, reason: Vote.ExcludedReason, by: User | None, because: str = ""
) -> list[Vote]:
    """Retract those that are not set aside yet, all or none. Returns them.

    Raises TalliesDisagree, and NeedsAdministrator as _refuse_protected_voters does.
    """
    _refuse_protected_voters(votes, by)
    changed = set_aside(votes.filter(excluded_reason=""), reason=reason, by=by, because=because)
    _record(by, "vote.retract", changed, because, excluded_reason=reason)
    return changed


@transaction.atomic
def restore_votes(votes: VoteQuerySet, *, by: User | None, because: str = "") -> list[Vote]:
    """Restore those that are set aside, all or none. Returns them.

    Raises NeedsAdministrator as _refuse_protected_voters does, and where the arena itself set one aside.
    """
    _refuse_protected_voters(votes, by)
    by_arena = votes.exclude(excluded_reason__in=["", *Vote.ExcludedReason.chosen_by_staff()])
    if not is_administrator(by) and by_arena.exists():
        raise NeedsAdministrator(_("Only an administrator can count votes again that the arena itself set aside."))
    changed = put_back(votes, by=by, because=because)
    _record(by, "vote.restore", changed, because, excluded_reasons=sorted({vote.excluded_reason for vote in changed}))
    return changed


@transaction.atomic
def decide_review(review: AnomalyReview, state: str, *, by: User, because: str) -> AnomalyReview:
    """Let a reviewed voter's votes count (DISMISSED) or set them aside for good (EXCLUDED).

    Raises ReviewIsDecided, and NeedsAdministrator as _refuse_protected_voters does.
    """
    _refuse_protected_voters(Vote.objects.filter(voter=review.voter) | review.votes, by)
    decided = reviews.decide(review, state, by=by, because=because)
    audit.record(by, f"review.{state}", decided, because, voter=decided.voter, votes=len(decided.orders))
    return decided


def _refuse_protected_voters(votes: VoteQuerySet, by: User | None) -> None:
    """Raise NeedsAdministrator where a vote is of `by`, or of an administrator and `by` is none."""
    if votes.filter(voter__in=protected_voters(by)).exists():
        raise NeedsAdministrator(_("Only an administrator can judge your own votes and those of administrators."))


def look_for_anomalies(*, by: User) -> None:
    """Have every voter judged anew, by a worker, or here when no broker answers."""
    audit.record(by, "leaderboard.look_for_anomalies", "")
    transaction.on_commit(lambda: _hand_to_a_worker(tasks.look_for_anomalies))


def _record(by: User | None, action: str, votes: list[Vote], because: str, **details: object) -> None:
    if votes:
        subject = str(votes[0]) if len(votes) == 1 else f"{len(votes)} votes"
        audit.record(
            by, action, subject, because, orders=sorted(filter(None, (vote.order for vote in votes))), **details
        )


@transaction.atomic
def ask_for_run(*, by: User) -> None:
    """Have the board brought up to date as soon as this is committed: by a worker, or here when no broker answers."""
    slot = schedule.new_slot()
    audit.record(by, "leaderboard.aggregate", slot)
    transaction.on_commit(lambda: _hand_to_a_worker(tasks.aggregate_votes, slot))


def _hand_to_a_worker(task: "Task[..., object]", *arguments: str) -> None:
    try:
        task.delay(*arguments)
    except (OperationalError, CeleryError, OSError):
        task(*arguments)
