"""What becomes of votes after they were cast: set aside, put back, filed under other boards or another voter.

Everything here moves the tallies and leaves a VoteChange in the same transaction, under the lock of the tallies.
Votes that no run has taken yet are in no tally and no snapshot: the next run counts them as they stand then.
"""

from collections.abc import Callable, Iterable
from typing import TypedDict, Unpack

from django.db import transaction
from django.db.models import Case, F, Value, When
from django.dispatch import receiver

from accounts.models import User
from battles.labels import LabelChange
from battles.models import Vote, VoteQuerySet
from battles.signals import labels_change, relabelling_begins, voter_changes
from leaderboard.counting import tallies
from leaderboard.counting.live_elo import replay_elo
from leaderboard.counting.tallies import CountedVote
from leaderboard.models import AnomalyReview, VoteChange

Processing = Vote.Processing
Kind = VoteChange.Kind


@transaction.atomic
def set_aside(votes: VoteQuerySet, *, reason: str, by: User | None = None, because: str = "") -> list[Vote]:
    """Count these votes no more, as if they had never been counted; they stay in the log with their reason.

    Those that have this reason already are left alone; those with another one get this one. Returns what changed.
    Raises TalliesDisagree when the tallies never held one of them.
    """
    now = Case(When(processing=Processing.PROCESSED, then=Value(Processing.RETRACTED)), default=F("processing"))
    changed = _lock(votes.exclude(excluded_reason=reason))
    tallies.move(out=[_counted(vote) for vote in changed if vote.processing == Processing.PROCESSED])
    _write(changed, kind=Kind.EXCLUDED, excluded_reason=reason, processing=now, because=because, by=by)
    return changed


@transaction.atomic
def put_back(votes: VoteQuerySet, *, by: User | None = None, because: str = "") -> list[Vote]:
    """The mirror of set_aside: these votes count from now on. Returns what changed."""
    now = Case(When(processing=Processing.PENDING, then=F("processing")), default=Value(Processing.PROCESSED))
    changed = _lock(votes.exclude(excluded_reason=""))
    tallies.move(into=[_counted(vote) for vote in changed if vote.processing != Processing.PENDING])
    _write(changed, kind=Kind.RESTORED, excluded_reason="", processing=now, because=because, by=by)
    return changed


def _lock(votes: VoteQuerySet) -> list[Vote]:
    tallies.lock()
    return list(votes.select_for_update(of=("self",)).order_by("pk"))


def _write(
    votes: list[Vote], *, kind: str, excluded_reason: str, processing: Case, because: str, by: User | None
) -> None:
    _remember(votes, kind, lambda vote: {**_standing(vote), "excluded_reason": excluded_reason}, because, by)
    written = Vote.objects.filter(pk__in=[vote.pk for vote in votes])
    written.update(excluded_reason=excluded_reason, processing=processing)
    counts = Vote(excluded_reason=excluded_reason).counts
    if any(vote.counts != counts for vote in votes):
        replay_elo()


class VoteState(TypedDict):
    """Columns of a vote that VoteChange keeps."""

    excluded_reason: str
    categories: list[str]
    language: str


def _remember(
    votes: Iterable[Vote], kind: str, after: Callable[[Vote], VoteState], because: str = "", by: User | None = None
) -> None:
    VoteChange.objects.bulk_create(
        [
            VoteChange(vote=vote, kind=kind, before=_standing(vote), after=after(vote), reason=because, by=by)
            for vote in votes
        ]
    )


def _standing(vote: Vote) -> VoteState:
    return {
        "excluded_reason": vote.excluded_reason,
        "categories": list(vote.categories),
        "language": vote.language,
    }


class Relabelled(TypedDict, total=False):
    categories: tuple[str, ...]
    language: str


def _counted(vote: Vote, **changes: Unpack[Relabelled]) -> CountedVote:
    facts = CountedVote(
        vote.voter, vote.model_left_id, vote.model_right_id, vote.choice, vote.mode, tuple(vote.categories),
        vote.language,
    )  # fmt: skip
    return facts._replace(**changes)


@receiver(relabelling_begins)
def hold_the_tallies(**_: object) -> None:
    tallies.lock()


@receiver(labels_change)
def refile(changes: list[LabelChange], **_: object) -> None:
    """Votes that were taken by a run go to the boards of their new labels. Raises TalliesDisagree."""
    after = {change.vote_id: change.after for change in changes}
    votes = list(Vote.objects.filter(pk__in=after).order_by("pk"))
    counted = [vote for vote in votes if vote.processing == Processing.PROCESSED]
    tallies.move(
        out=map(_counted, counted),
        into=[
            _counted(vote, categories=after[vote.pk].categories, language=after[vote.pk].language) for vote in counted
        ],
    )
    _remember(
        votes,
        Kind.RELABELLED,
        lambda vote: {
            **_standing(vote),
            "categories": list(after[vote.pk].categories),
            "language": after[vote.pk].language,
        },
    )


@receiver(voter_changes)
def rename_voter(votes: VoteQuerySet, voter: str, **_: object) -> None:
    """Counted votes move with their voter, so that they can still be taken away. Raises TalliesDisagree."""
    tallies.lock()
    taken = list(votes.exclude(processing=Processing.PENDING))
    counted = [_counted(vote) for vote in taken if vote.processing == Processing.PROCESSED]
    tallies.move(out=counted, into=[vote._replace(voter=voter) for vote in counted])
    _remember(taken, Kind.RENAMED, _standing)
    AnomalyReview.objects.follow(votes, voter)
