"""People look after their sessions."""

import logging
from typing import TypedDict, Unpack

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from accounts.actor import Actor
from accounts.api.idempotency import delete_results
from battles.actions.shares import withdraw_consent
from battles.errors import TooLateToRestore
from battles.models import Answer, Attachment, Battle, Session, Share, StarRating, Turn, Vote, VoteQuerySet
from battles.signals import voter_changes
from battles.streaming.control import truncate_streams
from battles.worker.turn_store import end_at_once
from common.ids import new_public_id
from uploads.deletion import delete_upload
from uploads.models import Upload

logger = logging.getLogger(__name__)


class SessionChanges(TypedDict, total=False):
    title: str
    archived: bool


def update_session(session: Session, **changes: Unpack[SessionChanges]) -> None:
    """`title` and `archived` are the person's own."""
    Session.objects.filter(pk=session.pk).update(**changes)


def file_votes_under(voter: str, votes: VoteQuerySet) -> None:
    """The votes' owner changes, in the tallies too; the votes do not. Inside a transaction."""
    voter_changes.send(sender=Vote, votes=votes, voter=voter)
    votes.update(voter=voter)


def file_stars_under(voter: str, stars: QuerySet[StarRating]) -> None:
    """As file_votes_under, and after it: then no snapshot is being made meanwhile."""
    stars.update(voter=voter, renamed_at=Now())


def discard_session(session: Session) -> None:
    """Throw it away: it is gone from everywhere, and for a minute it can be had back."""
    Session.objects.filter(pk=session.pk).update(discarded_at=Now())


def restore_session(*, actor: Actor, public_id: str) -> Session:
    """Have it back; one that was not thrown away stays as it is. Raises TooLateToRestore."""
    mine = Session.objects.owned_or_discarded_by(actor).filter(public_id=public_id)
    mine.update(discarded_at=None)
    restored = mine.first()
    if restored is None:
        raise TooLateToRestore
    return restored


def delete_discarded(*, at_most: int) -> None:
    """What nobody wanted back in time; what cannot be deleted is tried again."""
    delete_each(Session.objects.due_for_deletion(), at_most=at_most)


def delete_each(unwanted: QuerySet[Session], *, at_most: int | None = None) -> int:
    """Each in a transaction of its own, in which nobody else has it and it still is unwanted.

    One that cannot be deleted holds up no other. Returns how many could not be.
    """
    failures = 0
    for pk in list(unwanted.values_list("pk", flat=True)[:at_most]):
        try:
            with transaction.atomic():
                session = unwanted.select_for_update(skip_locked=True, of=("self",)).filter(pk=pk).first()
                if session is not None:
                    delete_session(session)
        except Exception:
            failures += 1
            logger.exception("session %s cannot be deleted", pk)
    return failures


@transaction.atomic
def delete_session(session: Session, *, voter: str = "") -> None:
    """Text, files and owner go; counted votes and stars stay, without a name.

    voter: under which they are filed; a new one otherwise, which no other votes have.
    """
    turns = Turn.objects.filter(battle__session=session)
    for turn in turns.exclude(state=Turn.State.DONE).select_related("battle").select_for_update(of=("self",)):
        end_at_once(turn)
    truncate_streams(turns)
    votes = Vote.objects.filter(battle__session=session)
    votes.update(comment="")
    nobody = voter or f"deleted:{new_public_id()}"
    file_votes_under(nobody, votes)
    file_stars_under(nobody, StarRating.objects.filter(answer__turn__battle__session=session))
    _delete_files(turns)
    Answer.objects.filter(turn__in=turns).update(text="", html="", reasoning="")
    turns.update(prompt="")
    Share.objects.filter(battle__session=session).delete()
    withdraw_consent(Battle.objects.filter(session=session))
    if session.owner is not None:
        delete_results([session.owner])
    Session.objects.filter(pk=session.pk).update(owner_user=None, owner_visitor=None, title="", discarded_at=None)


def _delete_files(turns: QuerySet[Turn]) -> None:
    """Files that no other session uses. What went with which prompt is forgotten."""
    of_session = Attachment.objects.filter(turn__in=turns)
    attached = list(Upload.objects.filter(attachments__in=of_session).distinct())
    of_session.delete()
    for upload in attached:
        if not Attachment.objects.filter(upload=upload).exists():
            delete_upload(upload)
