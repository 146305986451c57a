"""System check: environment variables of earlier versions that are no longer read."""

import os
import re
from collections.abc import Iterator
from typing import Any

from django.core.checks import CheckMessage, Error, Warning, register

FIXED = "the value is fixed now"
# By pattern of the name.
IGNORED = {
    r"ARENA_LIMIT_\w+": "use Limits in the administration",
    "ARENA_STATIC_ROOT": "static files are in static/ of ARENA_DATA_DIR",
    "ARENA_CONSENT_VERSION": "the version is a digest of ARENA_CONSENT_TEXT",
    "ARENA_(LISTED|ESTABLISHED)_FROM_VOTES": "the method fixes it",
    "ARENA_BREAKER_(FAILURES|COOLDOWN_S)": FIXED,
    r"ARENA_DEADLINE_\w+_S": "a provider can have its own deadlines",
    "ARENA_BACKGROUND_CALLS": "a provider can have its own maximum of calls at once",
    "ARENA_ROUTE_EXPLORE": "use Thresholds of auto mode in the administration",
    "ARENA_MAX_HELD_SHARE_(VOTERS|GROUPS)": "the method fixes it",
    "ARENA_GATEWAY_(PICTURES|TOOLS)": FIXED,
    "ARENA_STREAMS_(PERSON|PROCESS)|ARENA_CONNECTIONS": FIXED,
    "ARENA_(PROOF_OF_WORK_DIFFICULTY|ATTACHED_CHARACTERS|EMAIL_TIMEOUT_S)": FIXED,
}
# Ignoring these would lose files, spend money or break a promise, so the start is refused.
REFUSED = {
    "ARENA_UPLOADS_DIR": "move the files to uploads/ of ARENA_DATA_DIR, or mount them there",
    "ARENA_S3_ENDPOINT": "use AWS_ENDPOINT_URL_S3",
    "ARENA_S3_REGION": "use AWS_DEFAULT_REGION",
    "ARENA_S3_ACCESS_KEY": "use AWS_ACCESS_KEY_ID",
    "ARENA_S3_SECRET_KEY": "use AWS_SECRET_ACCESS_KEY",
    "ARENA_KEEP_(VISITOR|MEMBER)_SESSIONS_DAYS": "use ARENA_KEEP_DAYS, which is for all sessions",
    "ARENA_KEEP_NETWORKS_DAYS": "networks are forgotten after 60 days, or after ARENA_KEEP_DAYS if that is less",
    "ARENA_KEEP_RUNS_DAYS": "use ARENA_KEEP_DAYS, which is for sessions and benchmark runs",
    "ARENA_KEEP_DECISIONS_DAYS": "decisions are deleted after 90 days, or after ARENA_KEEP_DAYS if that is less",
    "ARENA_PAID_CALLS": "use the switch under Charges in the administration, or ARENA_BUDGET_SITE_DAY=0",
}


@register()
def check_removed_settings(**_: Any) -> list[CheckMessage]:
    found: list[CheckMessage] = []
    if ignored := list(_used_names(IGNORED)):
        found.append(Warning(f"Settings that are no longer read: {'; '.join(ignored)}.", id="arena_site.W001"))
    if refused := list(_used_names(REFUSED)):
        found.append(Error(f"Settings to be replaced: {'; '.join(refused)}.", id="arena_site.E001"))
    return found


def _used_names(removed: dict[str, str]) -> Iterator[str]:
    """Yield name and advice of each variable with a value."""
    for name, value in sorted(os.environ.items()):
        for pattern, advice in removed.items():
            if value and re.fullmatch(pattern, name):
                yield f"{name} ({advice})"
