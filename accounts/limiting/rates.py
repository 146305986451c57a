from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from common.valkey import limits

MAX_PERIOD_S = 366 * 24 * 3600  # Valkey rejects an expiry that is too long, which would refuse every request
HELP = _("For example “30/hour,150/day”, or “off” for no limit. Takes effect within five seconds.")


def validate_rate(rate: str) -> None:
    """Refuse zero, too: on wrong passwords it would stop every sign-in."""
    try:
        is_valid = all(item.amount and item.get_expiry() <= MAX_PERIOD_S for item in limits.parse_rate(rate))
    except ValueError:
        is_valid = False
    if not is_valid:
        problem = _("“%(rate)s” is no limit. Write “30/hour”, “30/hour,150/day”, “5/15 minutes” or “off”.")
        raise ValidationError(problem, code="not_a_rate", params={"rate": rate})
