"""Limits that administrators chose, which replace those of the settings."""

from accounts.models import Limit
from common.fresh import Fresh


def read_limits() -> dict[tuple[str, str], str]:
    """Return the rates by (action, who)."""
    return {(limit.action, limit.who): limit.rate for limit in Limit.objects.all()}


in_force = Fresh(read_limits, for_s=5, changed_by=(Limit,))
