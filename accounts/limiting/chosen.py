"""Limits chosen by administrators, which replace those of the settings."""

from accounts.models import Limit
from common.cache import TTLCached


def read_limits() -> dict[tuple[str, str], str]:
    return {(limit.action, limit.who): limit.rate for limit in Limit.objects.all()}


in_force = TTLCached(read_limits, ttl_s=5, invalidated_by=(Limit,))
