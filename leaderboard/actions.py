"""What staff change about the board: retract a vote, restore it, ask for a run. All of it is audited."""

from celery.exceptions import CeleryError
from django.db import transaction
from kombu.exceptions import OperationalError

from accounts import audit
from accounts.models import User
from battles.models import Vote
from leaderboard import schedule, tallies
from leaderboard.errors import VoteCounts, VoteDoesNotCount
from leaderboard.live_elo import replay_elo
from leaderboard.tasks import aggregate_votes

Processing = Vote.Processing


@transaction.atomic
def retract(vote: Vote, *, reason: Vote.ExcludedReason, by: User | None, because: str = "") -> None:
    """Count a vote no more, as if it had never been counted; it stays in the log with its reason.

    A vote that is still pending keeps its place in the queue: the next run sets it aside.
    Raises VoteDoesNotCount, and TalliesDisagree when the tallies never held it.
    """
    tallies.lock()
    vote = Vote.objects.select_for_update().get(pk=vote.pk)
    if vote.excluded_reason:
        raise VoteDoesNotCount
    was_counted = vote.processing == Processing.PROCESSED
    if was_counted:
        vote.processing = Processing.RETRACTED
        tallies.add(vote, -1)
    vote.excluded_reason = reason
    vote.save(update_fields=["processing", "excluded_reason"])
    audit.record(by, "vote.retract", vote, because, excluded_reason=reason)
    replay_elo()


@transaction.atomic
def restore(vote: Vote, *, by: User | None, because: str = "") -> None:
    """The mirror of retract: the vote counts from now on. Raises VoteCounts."""
    tallies.lock()
    vote = Vote.objects.select_for_update().get(pk=vote.pk)
    if not vote.excluded_reason:
        raise VoteCounts
    audit.record(by, "vote.restore", vote, because, excluded_reason=vote.excluded_reason)
    if vote.processing != Processing.PENDING:
        vote.processing = Processing.PROCESSED
        tallies.add(vote, 1)
    vote.excluded_reason = ""
    vote.save(update_fields=["processing", "excluded_reason"])
    replay_elo()


@transaction.atomic
def ask_for_run(*, by: User) -> None:
    """Have the board brought up to date as soon as this is committed: by a worker, or here when no broker answers."""
    slot = schedule.new_slot()
    audit.record(by, "leaderboard.aggregate", slot)
    transaction.on_commit(lambda: _hand_to_a_worker(slot))


def _hand_to_a_worker(slot: str) -> None:
    try:
        aggregate_votes.delay(slot)
    except (OperationalError, CeleryError, OSError):
        aggregate_votes(slot)
