"""Changes of cast votes: each updates tallies and adds a VoteChange, under the lock of the tallies. Pending votes have
no tallies yet; the next run counts them as they are then.
"""

from collections.abc import Callable, Iterable
from typing import TypedDict, Unpack

from django.db import transaction
from django.dispatch import receiver

from accounts.models import User
from battles.labels import LabelChange
from battles.models import Vote, VoteQuerySet
from battles.signals import labels_change, relabelling_begins, review_votes_changed, voter_changes
from leaderboard.counting import tallies
from leaderboard.counting.live_elo import replay_elo
from leaderboard.counting.tallies import CountedVote
from leaderboard.counting.vote_log import last_counted
from leaderboard.models import AnomalyReview, VoteChange

Kind = VoteChange.Kind


@transaction.atomic
def exclude_votes(votes: VoteQuerySet, *, reason: str, by: User | None = None, because: str = "") -> list[Vote]:
    """Exclude votes, pending ones at the next run; return those whose reason changed. Raises TalliesDisagree."""
    changed = _lock_votes(votes.exclude(excluded_reason=reason))
    if not changed:
        return []
    tallies.move(removed=[_counted_vote(vote) for vote in _in_tallies(changed) if not vote.excluded_reason])
    _set_exclusion(changed, kind=Kind.EXCLUDED, excluded_reason=reason, because=because, by=by)
    return changed


@transaction.atomic
def include_votes(votes: VoteQuerySet, *, by: User | None = None, because: str = "") -> list[Vote]:
    """Count excluded votes again; return the changed votes."""
    changed = _lock_votes(votes.exclude(excluded_reason=""))
    if not changed:
        return []
    tallies.move(added=map(_counted_vote, _in_tallies(changed)))
    _set_exclusion(changed, kind=Kind.RESTORED, excluded_reason="", because=because, by=by)
    return changed


def _lock_votes(votes: VoteQuerySet) -> list[Vote]:
    tallies.lock()
    return list(votes.select_for_update(of=("self",)).order_by("pk"))


def _up_to_newest_run(votes: Iterable[Vote]) -> list[Vote]:
    """Return the votes that a snapshot may have counted. Needs the lock of the tallies."""
    # Boards of teams and reviews may be published before the site's.
    last = last_counted()
    return [
        vote for vote in votes
        if vote.order is not None and (vote.order <= last or vote.team_id is not None or vote.series)
    ]  # fmt: skip


def _in_tallies(votes: Iterable[Vote]) -> list[Vote]:
    """Needs the lock of the tallies."""
    last = last_counted()
    return [vote for vote in votes if vote.on_site_boards and vote.order is not None and vote.order <= last]


def _set_exclusion(votes: list[Vote], *, kind: str, excluded_reason: str, because: str, by: User | None) -> None:
    _record_changes(votes, kind, lambda vote: {**_vote_state(vote), "excluded_reason": excluded_reason}, because, by)
    stored = Vote.objects.with_ids([vote.pk for vote in votes])
    stored.update(excluded_reason=excluded_reason)
    counts = Vote(excluded_reason=excluded_reason).counts
    if any(vote.on_site_boards and vote.counts != counts for vote in votes):
        replay_elo()
    if of_reviews := [vote for vote in votes if vote.series]:
        added = [vote for vote in of_reviews if vote.excluded_reason and not excluded_reason]
        removed = [vote for vote in of_reviews if excluded_reason and not vote.excluded_reason]
        review_votes_changed.send(Vote, added=added, removed=removed)


class VoteState(TypedDict):
    excluded_reason: str
    categories: list[str]
    language: str


def _record_changes(
    votes: Iterable[Vote], kind: str, after: Callable[[Vote], VoteState], because: str = "", by: User | None = None
) -> None:
    VoteChange.objects.bulk_create(
        [
            VoteChange(vote=vote, kind=kind, before=_vote_state(vote), after=after(vote), reason=because, by=by)
            for vote in votes
        ]
    )


def _vote_state(vote: Vote) -> VoteState:
    return {
        "excluded_reason": vote.excluded_reason,
        "categories": list(vote.categories),
        "language": vote.language,
    }


class NewLabels(TypedDict, total=False):
    categories: tuple[str, ...]
    language: str


def _counted_vote(vote: Vote, **changes: Unpack[NewLabels]) -> CountedVote:
    facts = CountedVote(
        vote.voter, vote.model_left_id, vote.model_right_id, vote.choice, vote.mode, vote.origin,
        tuple(vote.categories), vote.language,
    )  # fmt: skip
    return facts._replace(**changes)


@receiver(relabelling_begins)
def lock_tallies(**_: object) -> None:
    tallies.lock()


@receiver(labels_change)
def refile_relabelled_votes(changes: list[LabelChange], **_: object) -> None:
    """Move counted votes to the boards of their new labels. Raises TalliesDisagree."""
    after = {change.vote_id: change.after for change in changes}
    votes = _up_to_newest_run(Vote.objects.filter(pk__in=after).order_by("pk"))
    counted = [vote for vote in _in_tallies(votes) if not vote.excluded_reason]
    tallies.move(
        removed=map(_counted_vote, counted),
        added=[
            _counted_vote(vote, categories=after[vote.pk].categories, language=after[vote.pk].language)
            for vote in counted
        ],
    )
    _record_changes(
        votes,
        Kind.RELABELLED,
        lambda vote: {
            **_vote_state(vote),
            "categories": list(after[vote.pk].categories),
            "language": after[vote.pk].language,
        },
    )


@receiver(voter_changes)
def rename_voter(votes: VoteQuerySet, voter: str, **_: object) -> None:
    """Move counted votes to the new voter's tallies. Raises TalliesDisagree."""
    tallies.lock()
    not_pending = _up_to_newest_run(votes)
    counted = [_counted_vote(vote) for vote in _in_tallies(not_pending) if not vote.excluded_reason]
    tallies.move(removed=counted, added=[vote._replace(voter=voter) for vote in counted])
    _record_changes(not_pending, Kind.RENAMED, _vote_state)
    AnomalyReview.objects.move_to_voter(votes, voter)
