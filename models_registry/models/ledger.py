"""The rows of money: what a call may cost, what it did cost, and what was spent in a day by whom and where."""

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
    """The day budgets are about; it ends at midnight UTC."""
    return timezone.now().astimezone(UTC).date()


def seconds_until_tomorrow() -> float:
    midnight = datetime.combine(today() + timedelta(days=1), time(), UTC)
    return (midnight - timezone.now()).total_seconds()


def provider_account(provider_id: int | str) -> str:
    return f"provider:{provider_id}"


def person_account(person: str) -> str:
    """`person` is Actor.key: `user:<id>` or `visitor:<id>`."""
    return f"person:{person}"


class SpendingDayQuerySet(models.QuerySet["SpendingDay"]):
    def reserve(self, day: date, account: str, amount: Decimal, *, cap: Decimal | None) -> bool:
        """Set `amount` (US dollars) aside if it fits under `cap`; the row stays locked until COMMIT."""
        row = self.filter(day=day, account=account)
        fits = row if cap is None else row.filter(reserved__lte=cap - amount - F("spent"))
        if fits.update(reserved=F("reserved") + amount):
            return True
        self.bulk_create([SpendingDay(day=day, account=account)], ignore_conflicts=True)  # the day's first?
        return fits.update(reserved=F("reserved") + amount) == 1

    def used_today(self, accounts: "Iterable[str]") -> dict[str, Decimal]:
        """US dollars spent and reserved, by account; accounts without a row are left out."""
        rows = self.filter(day=today(), account__in=accounts).annotate(used=F("reserved") + F("spent"))
        return dict(rows.values_list("account", "used"))


class SpendingDay(models.Model):
    """What one account (a person, a provider, the site) spent in a day, and what running calls may still cost."""

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
    """US dollars, to annotate providers with; None before the first call."""
    account = Concat(Value(provider_account("")), Cast(OuterRef("pk"), models.CharField()))
    return Subquery(SpendingDay.objects.filter(day=today(), account=account).values("spent")[:1])


class ChargeQuerySet(models.QuerySet["Charge"]):
    def totals(self, day: date, by: str) -> list[dict[str, object]]:
        """Per `by` ("model__name", "provider__name"): calls, `spent` and still `reserved`; the dearest first."""
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
    """The money of one call to a paid model: set aside before it, settled after it, never touched again."""

    day = models.DateField()
    model = models.ForeignKey("models_registry.LanguageModel", models.PROTECT, related_name="+")
    provider = models.ForeignKey("models_registry.Provider", models.PROTECT, related_name="+")
    price = models.ForeignKey("models_registry.Price", models.PROTECT, related_name="+")
    # Actor.key of whoever asked; empty for probes, and for those whose session is gone.
    person = models.CharField(max_length=40, blank=True)
    most = models.DecimalField(_("reserved"), max_digits=14, decimal_places=8)
    cost = models.DecimalField(_("cost"), max_digits=14, decimal_places=8, null=True)
    created_at = models.DateTimeField(db_default=Now())

    objects = ChargeQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [models.CheckConstraint(condition=Q(most__gt=0), name="free_calls_have_no_charge")]
        indexes = [
            # For the administration's spending page: ChargeQuerySet.totals.
            models.Index(fields=["day", "model"], name="charges_of_a_day")
        ]

    def __str__(self) -> str:
        return f"charge {self.pk}"

    @property
    def accounts(self) -> list[str]:
        """In the order in which they are locked."""
        return accounts_of(self.provider_id, self.person)


def accounts_of(provider_id: int, person: str) -> list[str]:
    """Whose budgets a call counts against, in the order in which they are locked."""
    persons = [person_account(person)] if person else []
    return sorted([*persons, provider_account(provider_id), SITE])


class PaidCallsHalt(models.Model):
    """The kill switch: while its one row exists, no paid model is called."""

    since = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(pk=1), name="there_is_one_kill_switch")]

    def __str__(self) -> str:
        return "paid calls are halted"


def are_paid_calls_halted() -> bool:
    return PaidCallsHalt.objects.exists()
