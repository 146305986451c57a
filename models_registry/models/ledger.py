from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from django.db import models
from django.db.models import DecimalField, F, OuterRef, Q, Subquery, Sum, Value
from django.db.models.functions import Cast, Coalesce, Concat, Now
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from collections.abc import Iterable

SITE = "site"


def today() -> date:
    """Return the day of the budgets, which ends at midnight UTC."""
    return timezone.now().astimezone(UTC).date()


def seconds_until_tomorrow() -> float:
    midnight = datetime.combine(today() + timedelta(days=1), time(), UTC)
    return (midnight - timezone.now()).total_seconds()


def provider_account(provider_id: int | str) -> str:
    return f"provider:{provider_id}"


def person_account(person: str) -> str:
    """person: Actor.key, `user:<id>` or `visitor:<id>`."""
    return f"person:{person}"


class SpendingDayQuerySet(models.QuerySet["SpendingDay"]):
    def reserve(self, day: date, account: str, amount: Decimal, *, cap: Decimal | None) -> bool:
        """Reserve `amount` (US dollars) if it fits under `cap`; the row stays locked until COMMIT."""
        row = self.filter(day=day, account=account)
        fits = row if cap is None else row.filter(reserved__lte=cap - amount - F("spent"))
        if fits.update(reserved=F("reserved") + amount):
            return True
        self.bulk_create([SpendingDay(day=day, account=account)], ignore_conflicts=True)  # if it is the day's first
        return fits.update(reserved=F("reserved") + amount) == 1

    def used_today(self, accounts: "Iterable[str]") -> dict[str, Decimal]:
        """Return US dollars spent and reserved, by account that has a row."""
        rows = self.filter(day=today(), account__in=accounts).annotate(used=F("reserved") + F("spent"))
        return dict(rows.values_list("account", "used"))


class SpendingDay(models.Model):
    """US dollars spent and reserved by an account (a person, a provider, the site) in a day."""

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
    most = models.DecimalField(_("reserved"), max_digits=14, decimal_places=8)
    cost = models.DecimalField(_("cost"), max_digits=14, decimal_places=8, null=True)
    created_at = models.DateTimeField(db_default=Now())

    objects = ChargeQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [models.CheckConstraint(condition=Q(most__gt=0), name="free_calls_have_no_charge")]
        indexes = [
            # Used by the spending page: ChargeQuerySet.totals.
            models.Index(fields=["day", "model"], name="charges_of_a_day")
        ]

    def __str__(self) -> str:
        return f"charge {self.pk}"

    @property
    def accounts(self) -> list[str]:
        """Return the accounts that pay, in the order of locks."""
        persons = [person_account(self.person)] if self.person else []
        return sorted([*persons, provider_account(self.provider_id), SITE])


class PaidCallsHalt(models.Model):
    """Kill switch: while its one row exists, no paid model is called."""

    since = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(pk=1), name="there_is_one_kill_switch")]

    def __str__(self) -> str:
        return "paid calls are halted"


def are_paid_calls_halted() -> bool:
    return PaidCallsHalt.objects.exists()
