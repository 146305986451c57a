"""Actions of staff on votes and runs; each writes an audit entry."""

from collections.abc import Collection

from celery import Task
from celery.exceptions import CeleryError
from django.db import transaction
from django.utils.translation import gettext as _
from kombu.exceptions import OperationalError

from accounts import audit
from accounts.actor import actor_keys
from accounts.errors import NeedsAdministrator
from accounts.models import Team, User
from accounts.staff_rights import is_administrator, protected_voters
from battles.models import Vote, VoteQuerySet
from common.errors import NotAllowed
from leaderboard import tasks
from leaderboard.counting import reviews, schedule
from leaderboard.counting.vote_changes import exclude_votes, include_votes
from leaderboard.errors import VoteCounts, VoteDoesNotCount
from leaderboard.models import AnomalyReview, TeamBoard


@transaction.atomic
def retract(vote: Vote, *, reason: Vote.ExcludedReason, by: User | None, because: str = "") -> None:
    """Exclude one vote. Raises VoteDoesNotCount and TalliesDisagree."""
    if not retract_votes(Vote.objects.filter(pk=vote.pk), reason=reason, by=by, because=because):
        raise VoteDoesNotCount


@transaction.atomic
def restore(vote: Vote, *, by: User | None, because: str = "") -> None:
    """Count one excluded vote again. Raises VoteCounts."""
    if not restore_votes(Vote.objects.filter(pk=vote.pk), by=by, because=because):
        raise VoteCounts


@transaction.atomic
def retract_votes(
    votes: VoteQuerySet, *, reason: Vote.ExcludedReason, by: User | None, because: str = ""
) -> list[Vote]:
    """Exclude all or none; return them.

    Raises TalliesDisagree, and NeedsAdministrator as _refuse_protected_voters.
    """
    _refuse_protected_voters(votes, by)
    changed = exclude_votes(votes.filter(excluded_reason=""), reason=reason, by=by, because=because)
    _record(by, "vote.retract", changed, because, excluded_reason=reason)
    return changed


@transaction.atomic
def restore_votes(votes: VoteQuerySet, *, by: User | None, because: str = "") -> list[Vote]:
    """Count all again or none; return them.

    Raises NeedsAdministrator as _refuse_protected_voters, and for votes that the arena excluded by itself.
    """
    _refuse_protected_voters(votes, by)
    excluded_automatically = votes.exclude(excluded_reason__in=["", *Vote.ExcludedReason.chosen_by_staff()])
    if not is_administrator(by) and excluded_automatically.exists():
        raise NeedsAdministrator(_("Only an administrator can count votes again that the arena itself excluded."))
    changed = include_votes(votes, by=by, because=because)
    _record(by, "vote.restore", changed, because, excluded_reasons=sorted({vote.excluded_reason for vote in changed}))
    return changed


@transaction.atomic
def decide_review(review: AnomalyReview, state: str, *, by: User, because: str) -> AnomalyReview:
    """Count the votes of a review again (DISMISSED) or exclude them for good (EXCLUDED).

    Raises ReviewIsDecided, and NeedsAdministrator as _refuse_protected_voters.
    """
    _refuse_protected_voters(Vote.objects.filter(voter=review.voter) | review.votes, by)
    decided = reviews.decide(review, state, by=by, because=because)
    audit.record(by, f"review.{state}", decided, because, voter=decided.voter, votes=len(decided.orders))
    return decided


@transaction.atomic
def decide_team_review(review: AnomalyReview, state: str, *, by: User, because: str) -> AnomalyReview:
    """Raises ReviewIsDecided, and NotAllowed on own votes."""
    if review.voter in actor_keys(by) or review.votes.filter(voter__in=actor_keys(by)).exists():
        raise NotAllowed(_("Another owner decides on your own votes."))
    decided = reviews.decide(review, state, by=by, because=because)
    audit.record(by, f"review.{state}", decided, because, team=decided.team_id, votes=len(decided.orders))
    return decided


@transaction.atomic
def choose_team_boards(*, by: User, team: Team, names: Collection[str], counts_on_site_boards: bool) -> None:
    """Switch the team's boards on or off."""
    TeamBoard.objects.filter(team=team).exclude(name__in=names).delete()
    TeamBoard.objects.bulk_create([TeamBoard(team=team, name=name) for name in names], ignore_conflicts=True)
    Team.objects.filter(pk=team.pk).update(counts_on_site_boards=counts_on_site_boards)
    audit.record(
        by, "choose boards of team", f"team {team.slug}", boards=sorted(names),
        counts_on_site_boards=counts_on_site_boards,
    )  # fmt: skip
    transaction.on_commit(lambda: _queue_or_run(tasks.publish_team_boards, str(team.pk)))


def _refuse_protected_voters(votes: VoteQuerySet, by: User | None) -> None:
    """Raise NeedsAdministrator if a vote is by `by`, or by an administrator while `by` is none."""
    if votes.filter(voter__in=protected_voters(by)).exists():
        raise NeedsAdministrator(_("Only an administrator can judge your own votes and those of administrators."))


def request_anomaly_check(*, by: User) -> None:
    audit.record(by, "leaderboard.look_for_anomalies", "")
    transaction.on_commit(lambda: _queue_or_run(tasks.look_for_anomalies))


def _record(by: User | None, action: str, votes: list[Vote], because: str, **details: object) -> None:
    if votes:
        subject = str(votes[0]) if len(votes) == 1 else f"{len(votes)} votes"
        audit.record(
            by, action, subject, because, orders=sorted(filter(None, (vote.order for vote in votes))), **details
        )


@transaction.atomic
def request_run(*, by: User) -> None:
    slot = schedule.new_slot()
    audit.record(by, "leaderboard.aggregate", slot)
    transaction.on_commit(lambda: _queue_or_run(tasks.aggregate_votes, slot))


def _queue_or_run(task: "Task[..., object]", *arguments: str) -> None:
    """Queue the task; run it here when the broker is unreachable."""
    try:
        task.delay(*arguments)
    except (OperationalError, CeleryError, OSError):
        task(*arguments)
