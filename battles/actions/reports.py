"""People ask moderators to look at what they see."""

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.actor import Actor
from battles.models import Battle, ModerationCase, Report
from battles.moderation.examination import open_case
from common.errors import InvalidInput
from common.text.storable import has_unstorable
from common.valkey import limits

MOST_CHARACTERS = Report._meta.get_field("reason").max_length or 0
NOT_COUNTED = gettext_lazy("Reporting is temporarily unavailable. Please try again.")


def report(*, actor: Actor, battle: Battle, reason: str) -> tuple[Report, bool]:
    """Say what is wrong with a battle: it waits for a moderator. Of one person the first report stands.

    Returns the report and whether it is new. Raises InvalidInput, TooManyRequests, and ServiceAway for visitors while
    limits cannot be counted.
    """
    reason = _accepted(reason)
    by = {"user": actor.user, "visitor": actor.visitor}
    known = Report.objects.filter(case__battle=battle, **by).first()
    if known is not None:
        return known, False
    limits.count("report", actor.limit_keys, fail_open=actor.user is not None, not_counted=NOT_COUNTED)
    with transaction.atomic():
        case, _opened = ModerationCase.objects.get_or_create(battle=battle)
        given, is_new = Report.objects.get_or_create(case=case, **by, defaults={"reason": reason})
        if is_new:
            open_case(battle)
    return given, is_new


def _accepted(reason: str) -> str:
    reason = reason.strip()
    if not reason:
        problem = _("Describe the problem in a few words.")
    elif len(reason) > MOST_CHARACTERS:
        problem = _("Use at most %(most)d characters.") % {"most": MOST_CHARACTERS}
    elif has_unstorable(reason):
        problem = _("This contains an invalid character (NUL or half of a surrogate pair).")
    else:
        return reason
    raise InvalidInput(problem, fields={"reason": [problem]})
