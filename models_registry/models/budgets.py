from decimal import Decimal

from django.conf import settings
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from common.cache import TTLCached
from common.db.execution import rows_if_migrated


class Budget(models.Model):
    """US dollars per day that replace the default in settings.ARENA_BUDGETS."""

    class Whose(models.TextChoices):
        VISITOR = "visitor", _("each visitor")
        MEMBER = "member", _("each member")
        SITE = "site", _("the whole site")

    whose = models.CharField(_("whose"), max_length=7, choices=Whose, unique=True)
    dollars = models.DecimalField(
        _("US dollars a day"), max_digits=10, decimal_places=2, null=True, blank=True,
        validators=[MinValueValidator(Decimal(0))],
        help_text=_("Empty: no limit. 0: no paid calls. Takes effect within five seconds."),
    )  # fmt: skip
    changed_at = models.DateTimeField(_("changed at"), auto_now=True)

    class Meta:
        verbose_name = _("budget")
        verbose_name_plural = _("budgets")
        constraints = [
            models.CheckConstraint(condition=Q(dollars=None) | Q(dollars__gte=0), name="no_budget_is_negative")
        ]

    def __str__(self) -> str:
        return self.whose


def read_budgets() -> dict[str, Decimal | None]:
    return {budget.whose: budget.dollars for budget in rows_if_migrated(Budget.objects.all())}


chosen = TTLCached(read_budgets, ttl_s=5, invalidated_by=(Budget,))


def budget_of(whose: str) -> Decimal | None:
    """Return US dollars per day, None for no limit. whose: a Budget.Whose."""
    budgets = chosen()
    return budgets[whose] if whose in budgets else settings.ARENA_BUDGETS[whose]
