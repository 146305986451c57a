from decimal import Decimal
from typing import TypedDict

from django.db import transaction
from django.dispatch import Signal

from accounts import audit
from accounts.models import Team, User

# Sent with `team` inside the transaction.
team_budgets_changed = Signal()


class Budgets(TypedDict, total=False):
    """Columns of Team; None for no limit."""

    day_budget: Decimal | None
    month_budget: Decimal | None
    member_month_budget: Decimal | None
    member_month_requests: int | None


@transaction.atomic
def change_budgets(*, by: User, team: Team, budgets: Budgets) -> None:
    """Store checked values, which apply to the next request."""
    if budgets:
        Team.objects.filter(pk=team.pk).update(**budgets)
        team_budgets_changed.send(sender=Team, team=team)
        audit.record(by, "change budgets of team", f"team {team.slug}", **budgets)
