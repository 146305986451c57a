"""What moderators do about cases: dismiss them, hide battles, show them again, block people. All of it is audited."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from accounts import actions as people
from accounts import audit
from accounts.api.idempotency import delete_results
from accounts.errors import NeedsAdministrator
from accounts.models import Ban, User, Visitor
from battles.actions.turns import stop
from battles.errors import NothingToStop
from battles.models import Battle, ModerationCase, ModerationCaseQuerySet, Session, Turn
from battles.prompting.prompt import title_of
from battles.streaming.control import truncate_streams

State = ModerationCase.State


@transaction.atomic
def dismiss_cases(cases: ModerationCaseQuerySet, *, by: User, because: str) -> list[ModerationCase]:
    """Nothing is wrong with them. Returns the cases."""
    return settle_cases(cases, by=by, because=because, action="moderation.dismiss", state=State.DISMISSED)


@transaction.atomic
def hide_battles(cases: ModerationCaseQuerySet, *, by: User, because: str) -> list[ModerationCase]:
    """Their text is shown to nobody but staff, also not as a session's title, in a stream or when a request is
    repeated; what is being answered is stopped.

    Returns the cases.
    """
    settled = settle_cases(cases.exclude(battle=None), by=by, because=because, action="moderation.hide")
    Battle.objects.filter(moderation_case__in=settled, hidden_at=None).update(hidden_at=Now())
    live = Turn.objects.filter(battle__moderation_case__in=settled).exclude(state=Turn.State.DONE)
    for turn in live.select_related("battle"):
        with suppress(NothingToStop):  # it has just ended
            stop(battle=turn.battle)
    truncate_streams(Turn.objects.filter(battle__moderation_case__in=settled))
    firsts = _first_turns(settled)
    titled = [first.battle.session_id for first in firsts if first.battle.session.title == title_of(first.prompt)]
    Session.objects.filter(pk__in=titled).update(title="")
    hidden = Battle.objects.filter(moderation_case__in=settled)
    sessions = Session.objects.filter(battles__in=hidden).select_related("owner_user", "owner_visitor")
    delete_results({session.owner for session in sessions if session.owner is not None})
    return settled


@transaction.atomic
def show_battles_again(cases: ModerationCaseQuerySet, *, by: User, because: str) -> list[ModerationCase]:
    """The mirror of hide_battles."""
    hidden = cases.filter(battle__hidden_at__isnull=False)
    shown = settle_cases(hidden, by=by, because=because, action="moderation.show_again", state=State.DISMISSED)
    Battle.objects.filter(moderation_case__in=shown).update(hidden_at=None)
    untitled = [turn for turn in _first_turns(shown) if not turn.battle.session.title]
    for turn in untitled:
        turn.battle.session.title = title_of(turn.prompt)
    Session.objects.bulk_update([turn.battle.session for turn in untitled], ["title"])
    return shown


@transaction.atomic
def ban_people(
    cases: ModerationCaseQuerySet, *, by: User, because: str, until: datetime | None = None
) -> list[ModerationCase]:
    """Whoever is behind them takes part in nothing any more, for `because`, which they are told. Staff is not blocked.

    until: empty is until somebody lifts it. Returns the cases.
    """
    settled = settle_cases(cases, by=by, because=because, action="moderation.ban")
    found = {case.person for case in ModerationCase.objects.for_queue().filter(pk__in=[case.pk for case in settled])}
    users = [one for one in found if isinstance(one, User) and not one.is_staff]
    visitors = [one for one in found if isinstance(one, Visitor)]
    in_force = Ban.objects.in_force().filter(Q(user__in=users) | Q(visitor__in=visitors))
    banned = {(ban.user_id, ban.visitor_id) for ban in in_force}
    new = [Ban(user=user) for user in users] + [Ban(visitor=visitor) for visitor in visitors]
    for ban in new:
        if (ban.user_id, ban.visitor_id) not in banned:
            ban.reason, ban.expires_at = because, until
            people.ban(ban, by=by)
    return settled


def settle_cases(
    cases: ModerationCaseQuerySet, *, by: User, because: str, action: str, state: State = State.SETTLED
) -> list[ModerationCase]:
    """Write down that `action` is what was decided on the cases. Inside the transaction that does it.

    Raises NeedsAdministrator when a moderator who is no administrator decides on a case of their own.
    """
    if not by.is_superuser and cases.filter(Q(user=by) | Q(battle__session__owner_user=by)).exists():
        raise NeedsAdministrator(_("Only an administrator can decide on your own battles."))
    settled = list(cases.select_related("battle").select_for_update(of=("self",)).order_by("pk"))
    ModerationCase.objects.filter(pk__in=[case.pk for case in settled]).update(
        state=state, decided_at=Now(), decided_by=by, reason=because
    )
    if settled:
        subject = str(settled[0]) if len(settled) == 1 else f"{len(settled)} cases"
        audit.record(by, action, subject, because, cases=[str(case) for case in settled])
    return settled


def _first_turns(cases: Sequence[ModerationCase]) -> list[Turn]:
    of_cases = Turn.objects.filter(battle__moderation_case__in=cases, index=0)
    return list(of_cases.select_related("battle__session").order_by("-pk"))
