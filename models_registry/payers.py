from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import NamedTuple

from accounts.actor import Actor
from accounts.models import Team
from common.text.money import plain_decimal
from models_registry.models.budgets import budget_of
from models_registry.models.ledger import (
    Account,
    SpendingDay,
    accounts_of_payer,
    member_account,
    requests_account,
    this_month,
    today,
)
from models_registry.payload_types import SpentPayload


@dataclass(frozen=True)
class Payer:
    """Person (Actor.key) and place, with the day and the month that pay."""

    person: str
    team: Team | None = None
    day: date = field(default_factory=today)
    month: date = field(default_factory=this_month)

    @classmethod
    def of(cls, actor: Actor, team_id: int | None) -> "Payer":
        """team_id: of a place that the actor may use."""
        return cls(actor.key, None if team_id is None else actor.memberships[team_id].team)

    @property
    def team_id(self) -> int | None:
        return None if self.team is None else self.team.pk

    @property
    def counts_requests(self) -> bool:
        return self.team is not None and self.team.member_month_requests is not None

    def accounts(self, *, site_pays: bool = True) -> list[Account]:
        return accounts_of_payer(self.person, self.team_id, day=self.day, month=self.month, site_pays=site_pays)

    def request(self) -> dict[Account, Decimal]:
        """Return the reservation of a request, {} without a limit."""
        if self.team is None or not self.counts_requests:
            return {}
        return {requests_account(self.team.pk, self.person, self.month): Decimal(1)}

    def shares(self, amount: Decimal, *, site_pays: bool = True) -> dict[Account, Decimal]:
        """Return the reservations of `amount` (US dollars) and a request."""
        return dict.fromkeys(self.accounts(site_pays=site_pays), amount) | self.request()

    def refusing_account(self, shares: dict[Account, Decimal]) -> str:
        """Return the name of the first account with too little left, or ""."""
        remaining = self._remaining(shares)
        return next((account.name for account, rest in remaining.items() if rest < shares[account]), "")

    def scarcest(self, *, site_pays: bool = True) -> tuple[str, Decimal | None]:
        """Return the account with the least US dollars left, and these; None without a limit."""
        remaining = self._remaining(self.accounts(site_pays=site_pays))
        account = min(remaining, key=remaining.__getitem__, default=None)
        return ("", None) if account is None else (account.name, remaining[account])

    def _remaining(self, accounts: Iterable[Account]) -> dict[Account, Decimal]:
        limits = {account: limit for account in accounts if (limit := self._limit_of(account)) is not None}
        used = SpendingDay.objects.used(limits) if limits else {}
        return {account: limit - used[account] for account, limit in limits.items()}

    def _limit_of(self, account: Account) -> Decimal | None:
        if account.team_id is None:
            return personal_budget(self.person)
        limit = getattr(self.team, account.limit)
        return None if limit is None else Decimal(limit)


def personal_budget(person: str) -> Decimal | None:
    """Return US dollars per day, None for no limit. person: Actor.key."""
    return budget_of("member" if person.startswith("user:") else "visitor")


def spent_payload(amount: Decimal, budget: Decimal | None) -> SpentPayload:
    percent = None if budget is None else int(100 * amount / budget) if budget else 100
    return {
        "spent": plain_decimal(amount), "budget": None if budget is None else plain_decimal(budget), "percent": percent,
    }  # fmt: skip


class Quota(NamedTuple):
    """Use of a member's quota in a month."""

    team: Team
    spent: Decimal
    requests: int

    @property
    def max_requests(self) -> int | None:
        return self.team.member_month_requests

    @property
    def as_spent(self) -> SpentPayload:
        return spent_payload(self.spent, self.team.member_month_budget)


def quotas_of(person: str, teams: Iterable[Team], month: date) -> list[Quota]:
    """person: Actor.key."""
    asked = [
        (team, Account(member_account(team.pk, person), month), requests_account(team.pk, person, month))
        for team in teams
    ]
    if not asked:
        return []
    used = SpendingDay.objects.used([account for _, *accounts in asked for account in accounts])
    return [Quota(team, used[money], int(used[requests])) for team, money, requests in asked]
