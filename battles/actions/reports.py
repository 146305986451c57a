from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.actor import Actor
from battles.models import Battle, ModerationCase, Report
from battles.moderation.examination import open_case
from common.errors import InvalidInput
from common.text.storable import has_unstorable

MAX_CHARACTERS = Report._meta.get_field("reason").max_length or 0
NOT_COUNTED = gettext_lazy("Reporting is temporarily unavailable. Please try again.")


def report(*, actor: Actor, battle: Battle, reason: str) -> tuple[Report, bool]:
    """Return the person's first report and whether it is new.

    Raises InvalidInput, TooManyRequests, and for visitors ServiceAway if limits cannot be counted.
    """
    reason = _clean_reason(reason)
    reporter = {"user": actor.user, "visitor": actor.visitor}
    existing = Report.objects.filter(case__battle=battle, **reporter).first()
    if existing is not None:
        return existing, False
    actor.count("report", fail_open=actor.user is not None, not_counted=NOT_COUNTED)
    with transaction.atomic():
        case, _created = ModerationCase.objects.get_or_create(battle=battle)
        stored, is_new = Report.objects.get_or_create(case=case, **reporter, defaults={"reason": reason})
        if is_new:
            open_case(battle)
    return stored, is_new


def _clean_reason(reason: str) -> str:
    reason = reason.strip()
    if not reason:
        problem = _("Describe the problem in a few words.")
    elif len(reason) > MAX_CHARACTERS:
        problem = _("Use at most %(most)d characters.") % {"most": MAX_CHARACTERS}
    elif has_unstorable(reason):
        problem = _("This contains an invalid character (NUL or half of a surrogate pair).")
    else:
        return reason
    raise InvalidInput(problem, fields={"reason": [problem]})
