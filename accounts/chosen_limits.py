"""Limits that administrators chose, in place of those in the settings."""

from django.db import connection, transaction

from accounts import audit
from accounts.models import Limit, User
from common.fresh import Fresh

# (action, who): rate. Whatever is counted asks for them: once for everybody within five seconds.
in_force = Fresh(
    lambda: {(limit.action, limit.who): limit.rate for limit in Limit.objects.all()}, for_s=5, changed_by=(Limit,)
)


@transaction.atomic
def choose(rates: dict[tuple[str, str], str], *, by: User) -> int:
    """Let these hold from now on, or with "" those of the settings. Returns how many that changes."""
    with connection.cursor() as cursor:  # of a limit that nobody chose yet there is no row to lock
        cursor.execute("LOCK TABLE accounts_limit IN SHARE ROW EXCLUSIVE MODE")
    rows = {(row.action, row.who): row for row in Limit.objects.all()}
    changed = 0
    for (action, who), rate in rates.items():
        row = rows.get((action, who)) or Limit(action=action, who=who)
        before, row.rate = row.rate, rate
        if before == rate:
            continue
        if rate:
            row.save()
        else:
            row.delete()
        audit.record(by, "change limit", row, changed={"rate": [before, rate]})
        changed += 1
    return changed
