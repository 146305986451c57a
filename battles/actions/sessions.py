import logging
from typing import TypedDict, Unpack

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from accounts.actor import Actor
from accounts.api.idempotency import replace_results
from accounts.models import Team
from accounts.teams.places import require_place_id
from battles.actions.shares import withdraw_consent
from battles.errors import TooLateToRestore
from battles.models import (
    Answer,
    Attachment,
    Battle,
    RoutingDecision,
    Session,
    Share,
    StarRating,
    Turn,
    Vote,
    VoteQuerySet,
)
from battles.signals import names_showing, session_deleting, voter_changes
from battles.streaming.control import truncate_streams
from battles.worker import answer_states
from battles.worker.turn_store import end_at_once
from common.errors import InvalidInput, NotFound
from common.ids import new_public_id
from uploads.files.deletion import delete_upload
from uploads.models import Upload

logger = logging.getLogger(__name__)


class SessionChanges(TypedDict, total=False):
    title: str
    archived: bool


def update_session(session: Session, **changes: Unpack[SessionChanges]) -> None:
    Session.objects.filter(pk=session.pk).update(**changes)


@transaction.atomic
def share_with_team(actor: Actor, session: Session, *, is_shared: bool) -> None:
    """Raises InvalidInput for a personal session, NotInTeam where the actor is no longer in the team."""
    if session.team_id is None:
        raise InvalidInput(_("A personal session has no team to share it with. Begin one in the team."))
    if is_shared:
        require_place_id(actor, session.team_id)
        names_showing.send(sender=Battle, battles=Battle.objects.filter(session=session))
    Session.objects.filter(pk=session.pk).update(is_shared=is_shared)


def reassign_votes(votes: VoteQuerySet, *, voter: str) -> None:
    """Change the voter of votes and of their tallies. Call inside a transaction."""
    voter_changes.send(sender=Vote, votes=votes, voter=voter)
    votes.update(voter=voter)


def reassign_stars(stars: QuerySet[StarRating], *, voter: str) -> None:
    """Change the voter of stars. Call after reassign_votes: its lock keeps snapshots from being made meanwhile."""
    stars.update(voter=voter, renamed_at=Now())


def discard_session(session: Session) -> None:
    """Hide the session; for a minute it can be restored."""
    Session.objects.filter(pk=session.pk).update(discarded_at=Now())


def restore_session(*, actor: Actor, public_id: str) -> Session:
    """Restore a discarded session; no effect on others. Raises TooLateToRestore."""
    owned = Session.objects.owned_or_discarded_by(actor).filter(public_id=public_id)
    owned.update(discarded_at=None)
    restored = owned.first()
    if restored is None:
        raise TooLateToRestore
    return restored


def delete_discarded(*, limit: int) -> None:
    """Delete sessions that were not restored in time; the next sweep retries failures."""
    delete_sessions(Session.objects.due_for_deletion(), limit=limit)


def delete_team_sessions(team: Team) -> int:
    """Delete the team's sessions; return the number of failures. Each person's votes keep one voter in common."""
    of_team, failures = Session.objects.filter(team=team), 0
    for owner in set(of_team.exclude(owner_user=None).values_list("owner_user", flat=True)):
        failures += delete_sessions(of_team.filter(owner_user=owner), voter=f"deleted:{new_public_id()}")
    return failures


def delete_sessions(sessions: QuerySet[Session], *, limit: int | None = None, voter: str = "") -> int:
    """Delete each session in its own transaction; return the number of failures. voter: see delete_session.

    Skips sessions that are locked, or no longer match the queryset.
    """
    failures = 0
    for pk in list(sessions.values_list("pk", flat=True)[:limit]):
        try:
            with transaction.atomic():
                session = sessions.select_for_update(skip_locked=True, of=("self",)).filter(pk=pk).first()
                if session is not None:
                    delete_session(session, voter=voter)
        except Exception:
            failures += 1
            logger.exception("session %s cannot be deleted", pk)
    return failures


@transaction.atomic
def delete_session(session: Session, *, voter: str = "") -> None:
    """Delete the session's texts, files and owner; keep its votes and stars without the person.

    voter: the key votes and stars are reassigned to; by default a new one.
    """
    session_deleting.send(sender=Session, session=session)
    turns = Turn.objects.filter(battle__session=session)
    for turn in turns.exclude(state=Turn.State.DONE).select_related("battle").select_for_update(of=("self",)):
        end_at_once(turn)
    truncate_streams(turns)
    votes = Vote.objects.filter(battle__session=session)
    votes.update(comment="")
    anonymous = voter or f"deleted:{new_public_id()}"
    reassign_votes(votes, voter=anonymous)
    reassign_stars(StarRating.objects.filter(answer__turn__battle__session=session), voter=anonymous)
    RoutingDecision.objects.filter(session=session).update(person="")
    _delete_files(turns)
    Answer.objects.filter(turn__in=turns).update(text="", html="", reasoning="")
    answer_states.delete(turns)
    turns.update(prompt="", trace="")
    Share.objects.filter(battle__session=session).withdraw()
    withdraw_consent(Battle.objects.filter(session=session))
    if session.owner is not None:
        replace_results([session.owner], about=[session.public_id], refusal=NotFound())
    Session.objects.filter(pk=session.pk).update(owner_user=None, owner_visitor=None, title="", discarded_at=None)


def _delete_files(turns: QuerySet[Turn]) -> None:
    """Delete the turns' attachments, and files that no other session uses, but those of a review: another's."""
    attachments = Attachment.objects.filter(turn__in=turns)
    own = attachments.exclude(turn__battle__mode=Battle.Mode.REVIEW)
    uploads = list(Upload.objects.filter(attachments__in=own).distinct())
    attachments.delete()
    for upload in uploads:
        if not Attachment.objects.filter(upload=upload).exists():
            delete_upload(upload)
