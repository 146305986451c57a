"""Limits that administrators chose, in place of those in the settings."""

from django.db import connection, transaction

from accounts import audit
from accounts.models import Limit, User
from common.fresh import Fresh

# By (action, who).
Rates = dict[tuple[str, str], str]


def chosen() -> Rates:
    return {(limit.action, limit.who): limit.rate for limit in Limit.objects.all()}


# Whatever is counted asks for them: once for everybody within five seconds.
in_force = Fresh(chosen, for_s=5, changed_by=(Limit,))


class ChosenMeanwhile(Exception):
    """Of limits that somebody else has changed: what they are now."""

    def __init__(self, rates: Rates) -> None:
        super().__init__(rates)
        self.rates = rates


@transaction.atomic
def choose(rates: Rates, *, by: User, in_place_of: Rates | None = None) -> int:
    """Let these hold from now on, or with "" those of the settings. Returns how many that changes.

    in_place_of: what `by` saw. Raises ChosenMeanwhile, and changes nothing, when somebody else has changed one of them
    since, and not to the same.
    """
    with connection.cursor() as cursor:  # of a limit that nobody chose yet there is no row to lock
        cursor.execute("LOCK TABLE accounts_limit IN SHARE ROW EXCLUSIVE MODE")
    rows = {(row.action, row.who): row for row in Limit.objects.all()}
    now = {key: rows[key].rate if key in rows else "" for key in rates}
    seen = now if in_place_of is None else in_place_of
    if others := {key: rate for key, rate in now.items() if rate not in (seen[key], rates[key])}:
        raise ChosenMeanwhile(others)
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
