from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from accounts import actions as account_actions
from accounts import audit
from accounts.api.idempotency import replace_results
from accounts.errors import NeedsAdministrator
from accounts.models import Ban, User, Visitor
from battles.actions.turns import stop
from battles.errors import BattleIsHidden, NothingToStop
from battles.models import Battle, ModerationCase, ModerationCaseQuerySet, Session, Turn
from battles.prompting.prompt import title_from_prompt
from battles.streaming.control import truncate_streams

State = ModerationCase.State


@transaction.atomic
def dismiss_cases(cases: ModerationCaseQuerySet, *, by: User, because: str) -> list[ModerationCase]:
    """Close the cases without consequences; return them."""
    return settle_cases(cases, by=by, because=because, action="moderation.dismiss", state=State.DISMISSED)


@transaction.atomic
def hide_battles(cases: ModerationCaseQuerySet, *, by: User, because: str) -> list[ModerationCase]:
    """Show the battles' texts to staff only, and stop their live turns; return the cases.

    Also empties session titles made from a hidden prompt, streams, and responses stored for repeated requests.
    """
    settled = settle_cases(cases.exclude(battle=None), by=by, because=because, action="moderation.hide")
    Battle.objects.filter(moderation_case__in=settled, hidden_at=None).update(hidden_at=Now())
    live = Turn.objects.filter(battle__moderation_case__in=settled).exclude(state=Turn.State.DONE)
    for turn in live.select_related("battle"):
        with suppress(NothingToStop):  # the turn has just ended
            stop(battle=turn.battle)
    truncate_streams(Turn.objects.filter(battle__moderation_case__in=settled))
    titled_by_prompt = [
        turn.battle.session_id
        for turn in _first_turns(settled)
        if turn.battle.session.title == title_from_prompt(turn.prompt)
    ]
    Session.objects.filter(pk__in=titled_by_prompt).update(title="")
    hidden = list(
        Battle.objects.filter(moderation_case__in=settled).select_related(
            "session__owner_user", "session__owner_visitor"
        )
    )
    owners = {battle.session.owner for battle in hidden if battle.session.owner is not None}
    replace_results(owners, about=[battle.public_id for battle in hidden], refusal=BattleIsHidden())
    return settled


@transaction.atomic
def unhide_battles(cases: ModerationCaseQuerySet, *, by: User, because: str) -> list[ModerationCase]:
    """Show the battles' texts again and restore titles; return the cases."""
    hidden = cases.filter(battle__hidden_at__isnull=False)
    shown = settle_cases(hidden, by=by, because=because, action="moderation.show_again", state=State.DISMISSED)
    Battle.objects.filter(moderation_case__in=shown).update(hidden_at=None)
    untitled = [turn for turn in _first_turns(shown) if not turn.battle.session.title]
    for turn in untitled:
        turn.battle.session.title = title_from_prompt(turn.prompt)
    Session.objects.bulk_update([turn.battle.session for turn in untitled], ["title"])
    return shown


@transaction.atomic
def ban_people(
    cases: ModerationCaseQuerySet, *, by: User, because: str, until: datetime | None = None
) -> list[ModerationCase]:
    """Ban the people behind the cases, except staff; `because` is shown to them. Return the cases.

    until: None bans until the ban is lifted.
    """
    settled = settle_cases(cases, by=by, because=because, action="moderation.ban")
    people = {case.person for case in ModerationCase.objects.for_queue().filter(pk__in=[case.pk for case in settled])}
    users = [person for person in people if isinstance(person, User) and not (person.is_staff or person.is_superuser)]
    visitors = [person for person in people if isinstance(person, Visitor)]
    in_force = Ban.objects.in_force().filter(Q(user__in=users) | Q(visitor__in=visitors))
    banned = {(ban.user_id, ban.visitor_id) for ban in in_force}
    new = [Ban(user=user) for user in users] + [Ban(visitor=visitor) for visitor in visitors]
    for ban in new:
        if (ban.user_id, ban.visitor_id) not in banned:
            ban.reason, ban.expires_at = because, until
            account_actions.ban(ban, by=by)
    return settled


def settle_cases(
    cases: ModerationCaseQuerySet, *, by: User, because: str, action: str, state: State = State.SETTLED
) -> list[ModerationCase]:
    """Close the cases and write `action` to the audit log. Call inside the decision's transaction.

    Raises NeedsAdministrator if a moderator without administrator rights decides on a case of their own.
    """
    if not by.is_administrator and cases.filter(Q(user=by) | Q(battle__session__owner_user=by)).exists():
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
    turns = Turn.objects.filter(battle__moderation_case__in=cases, index=0)
    return list(turns.select_related("battle__session").order_by("-pk"))
