"""People look after their sessions."""

from typing import Any

from django.db import transaction
from django.db.models.functions import Now

from battles.models import Answer, Session, Turn, Vote, VoteQuerySet
from battles.signals import voter_changes
from common.ids import new_public_id


def update_session(session: Session, **changes: Any) -> None:
    """`title` and `archived` are the person's own."""
    Session.objects.filter(pk=session.pk).update(**changes)


def file_votes_under(voter: str, votes: VoteQuerySet) -> None:
    """The votes' owner changes, in the tallies too; the votes do not. Inside a transaction."""
    voter_changes.send(sender=Vote, votes=votes, voter=voter)
    votes.update(voter=voter)


@transaction.atomic
def delete_session(session: Session) -> None:
    """Text and owner go; counted votes stay, without a name."""
    turns = Turn.objects.filter(battle__session=session)
    turns.exclude(state=Turn.State.DONE).update(stop_requested_at=Now())
    votes = Vote.objects.filter(battle__session=session)
    votes.update(comment="")
    file_votes_under(f"deleted:{new_public_id()}", votes)
    Answer.objects.filter(turn__in=turns).update(text="", html="", reasoning="")
    turns.update(prompt="")
    Session.objects.filter(pk=session.pk).update(owner_user=None, owner_visitor=None, title="")
