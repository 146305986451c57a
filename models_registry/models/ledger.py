from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from django.db import models
from django.db.models import DecimalField, F, OuterRef, Q, Subquery, Sum, Value
from django.db.models.functions import Cast, Coalesce, Concat, Now
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.models import Team
from common.db.triggers import refuse_rows

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

SITE = "site"


def today() -> date:
    """Return the day of the budgets, which ends at midnight UTC."""
    return timezone.now().astimezone(UTC).date()


def end_of_today() -> datetime:
    return datetime.combine(today() + timedelta(days=1), time(), UTC)


def seconds_until_tomorrow() -> float:
    return (end_of_today() - timezone.now()).total_seconds()


def this_month() -> date:
    """Return the first day of the calendar month in the site's time zone."""
    return timezone.now().astimezone(timezone.get_default_timezone()).date().replace(day=1)


def start_of_month(month: date) -> datetime:
    return datetime.combine(month, time(), timezone.get_default_timezone())


def next_month(month: date) -> date:
    return (month + timedelta(days=31)).replace(day=1)


def end_of_this_month() -> datetime:
    return start_of_month(next_month(this_month()))


def seconds_until_next_month() -> float:
    return (end_of_this_month() - timezone.now()).total_seconds()


_MODEL_IS_ANOTHER_TEAMS = """EXISTS (
        SELECT FROM models_registry_languagemodel
        WHERE id = NEW.model_id AND team_id IS NOT NULL AND team_id IS DISTINCT FROM NEW.team_id
    )"""


class Account(NamedTuple):
    """Account in the period that begins on `day`. limit: name of the team's column with its budget, or ""."""

    name: str
    day: date
    team_id: int | None = None
    limit: str = ""


def lock_order(account: Account) -> tuple[int, str, date]:
    """Return the key by which every transaction locks accounts, so that they cannot deadlock.

    Payers come first: a turn that ends locks them before the provider and the site.
    """
    return ("team", "person", "provider", SITE).index(account.name.partition(":")[0]), account.name, account.day


def provider_account(provider_id: int | str) -> str:
    return f"provider:{provider_id}"


def person_account(person: str) -> str:
    """person: Actor.key, `user:<id>` or `visitor:<id>`."""
    return f"person:{person}"


def team_account(team_id: int | str) -> str:
    return f"team:{team_id}"


def member_account(team_id: int, person: str) -> str:
    """person: Actor.key."""
    return f"{team_account(team_id)}/{person}"


def accounts_of_payer(
    person: str, team_id: int | None, *, day: date, month: date | None, site_pays: bool = True
) -> list[Account]:
    """Return the accounts that pay beside the provider's and the site's.

    month: None if the team pays otherwise. site_pays: False for calls with a team's own key.
    """
    # A person's own budget protects the site's money in a team's place, too: else teams would be the way around it.
    accounts = [Account(person_account(person), day)] if person and site_pays else []
    if team_id is None or month is None:
        return accounts
    accounts.append(Account(team_account(team_id), day, team_id, "day_budget"))
    accounts.append(Account(f"{team_account(team_id)}/month", month, team_id, "month_budget"))
    if person:
        accounts.append(Account(member_account(team_id, person), month, team_id, "member_month_budget"))
    return accounts


def requests_account(team_id: int, person: str, month: date) -> Account:
    """Return the account that counts a member's requests."""
    return Account(f"{member_account(team_id, person)}/requests", month, team_id, "member_month_requests")


class SpendingDayQuerySet(models.QuerySet["SpendingDay"]):
    def reserve(self, day: date, account: str, amount: Decimal, *, cap: Decimal | None) -> bool:
        """Reserve `amount` (US dollars) if it fits under `cap`; the row stays locked until COMMIT."""
        row = self.filter(day=day, account=account)
        fits = row if cap is None else row.filter(reserved__lte=cap - amount - F("spent"))
        if fits.update(reserved=F("reserved") + amount):
            return True
        self.bulk_create([SpendingDay(day=day, account=account)], ignore_conflicts=True)  # if it is the day's first
        return fits.update(reserved=F("reserved") + amount) == 1

    def used(self, accounts: "Collection[Account]") -> dict[Account, Decimal]:
        """Return US dollars, or requests, spent and reserved."""
        names, days = {account.name for account in accounts}, {account.day for account in accounts}
        rows = self.filter(account__in=names, day__in=days).values_list("account", "day", F("reserved") + F("spent"))
        used = {(name, day): amount for name, day, amount in rows}
        return {account: used.get((account.name, account.day), Decimal(0)) for account in accounts}

    def used_today(self, accounts: "Iterable[str]") -> dict[str, Decimal]:
        """Return US dollars spent and reserved, by account that has a row."""
        rows = self.filter(day=today(), account__in=accounts).annotate(used=F("reserved") + F("spent"))
        return dict(rows.values_list("account", "used"))


class SpendingDay(models.Model):
    """US dollars spent and reserved by an account (a person, a provider, a team, the site) in a day.

    Accounts of a team's months have a row on the month's first day; those of requests count instead of US dollars.
    """

    day = models.DateField()
    account = models.CharField(max_length=60)
    reserved = models.DecimalField(max_digits=16, decimal_places=8, default=0)
    spent = models.DecimalField(max_digits=16, decimal_places=8, default=0)

    objects = SpendingDayQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["day", "account"], name="an_account_has_each_day_once"),
            models.CheckConstraint(condition=Q(reserved__gte=0), name="nothing_is_released_that_was_not_reserved"),
        ]

    def __str__(self) -> str:
        return f"{self.account} {self.day}"


def spent_by_provider_today() -> Subquery:
    """Return an annotation for providers, in US dollars; None before the first call."""
    account = Concat(Value(provider_account("")), Cast(OuterRef("pk"), models.CharField()))
    return Subquery(SpendingDay.objects.filter(day=today(), account=account).values("spent")[:1])


class ChargeQuerySet(models.QuerySet["Charge"]):
    def totals(self, day: date, by: str) -> list[dict[str, object]]:
        """Return calls, `spent` and `reserved` per `by` ("model__name", "provider__name"), by descending `spent`."""
        zero = Decimal(0)
        money = DecimalField(max_digits=16, decimal_places=8)
        return list(
            self.filter(day=day)
            .values(by)
            .annotate(
                name=F(by),
                calls=models.Count("pk"),
                spent=Coalesce(Sum("cost"), zero, output_field=money),
                reserved=Coalesce(Sum("most", filter=Q(cost=None)), zero, output_field=money),
            )
            .order_by("-spent", by)
        )


class Charge(models.Model):
    """Money for one call to a paid model: reserved before it, settled after it, never changed again."""

    day = models.DateField()
    model = models.ForeignKey("models_registry.LanguageModel", models.PROTECT, related_name="+")
    provider = models.ForeignKey("models_registry.Provider", models.PROTECT, related_name="+")
    price = models.ForeignKey("models_registry.Price", models.PROTECT, related_name="+")
    # Actor.key of the payer; empty for probes and for blind answers, whose persons pay by battles.BlindCharge.
    person = models.CharField(max_length=40, blank=True)
    # The place of the call; NULL: personal. month: first day of the month that pays; NULL if a BlindCharge does.
    team = models.ForeignKey(Team, models.PROTECT, null=True, related_name="+", db_index=False)
    month = models.DateField(null=True)
    # Whether the site's budget and the person's own pay; not for a team's own key.
    site_pays = models.BooleanField(default=True, db_default=True)
    most = models.DecimalField(_("reserved"), max_digits=14, decimal_places=8)
    cost = models.DecimalField(_("cost"), max_digits=14, decimal_places=8, null=True)
    created_at = models.DateTimeField(db_default=Now())

    objects = ChargeQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(condition=Q(most__gt=0), name="free_calls_have_no_charge"),
            models.CheckConstraint(condition=Q(month=None) | Q(team__isnull=False), name="a_month_is_a_teams"),
            models.CheckConstraint(
                condition=Q(site_pays=True) | Q(team__isnull=False), name="the_site_pays_unless_a_team_does"
            ),
        ]
        indexes = [
            # Used by the spending page: ChargeQuerySet.totals.
            models.Index(fields=["day", "model"], name="charges_of_a_day"),
            # Used by a team's spending page.
            models.Index(fields=["team", "created_at"], name="charges_of_a_team", condition=Q(team__isnull=False)),
        ]
        triggers = [
            refuse_rows("a_charges_model_is_of_its_place", _MODEL_IS_ANOTHER_TEAMS, updated=("model_id", "team_id"))
        ]

    def __str__(self) -> str:
        return f"charge {self.pk}"

    @property
    def accounts(self) -> list[Account]:
        """Return the accounts that pay, in the order of locks."""
        payers = accounts_of_payer(self.person, self.team_id, day=self.day, month=self.month, site_pays=self.site_pays)
        site = [Account(SITE, self.day)] if self.site_pays else []
        return sorted([*payers, Account(provider_account(self.provider_id), self.day), *site], key=lock_order)


class PaidCallsHalt(models.Model):
    """Kill switch: while its one row exists, no paid model is called."""

    since = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(pk=1), name="there_is_one_kill_switch")]

    def __str__(self) -> str:
        return "paid calls are halted"


def are_paid_calls_halted() -> bool:
    return PaidCallsHalt.objects.exists()
