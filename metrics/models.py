from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import HashIndex
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from accounts.models import Team


def sessions_stay(days: int) -> bool:
    return not settings.ARENA_KEEP_DAYS or days <= settings.ARENA_KEEP_DAYS


class MetricDay(models.Model):
    """One stored figure of a UTC day, or of a span that the day names: docs/adr/0092.

    It has numbers only, and stays when the rows that it was counted from are deleted.
    """

    class Span(models.TextChoices):
        DAY = "day", _("day")
        # The 7 and 28 days that end with `day`, and the week (from Monday) and month that begin with it.
        DAYS_7 = "7d", _("7 days")
        DAYS_28 = "28d", _("28 days")
        WEEK = "week", _("week")
        MONTH = "month", _("month")

    day = models.DateField()
    # NULL: the whole arena with its teams.
    team = models.ForeignKey(Team, models.PROTECT, null=True, related_name="+", db_index=False)
    metric = models.CharField(max_length=40)
    span = models.CharField(max_length=5, choices=Span, default=Span.DAY)
    # Dimension and its value: ("mode", "blind"), ("model", "17"); both are empty in the row about everything.
    dim = models.CharField(max_length=10, blank=True)
    key = models.CharField(max_length=60, blank=True)
    n = models.BigIntegerField()
    total = models.DecimalField(max_digits=24, decimal_places=8)
    # Pairs bucket, count of metrics.histograms; empty for figures without quantiles.
    buckets = ArrayField(models.IntegerField(), default=list, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["metric", "dim", "team", "span", "key", "day"],
                nulls_distinct=False,
                include=["n", "total"],  # sums of years are then read from the index alone
                name="a_figure_of_a_day_is_stored_once",
            ),
            models.CheckConstraint(condition=~Q(dim="") | Q(key=""), name="a_key_has_a_dimension"),
            models.CheckConstraint(condition=Q(n__gte=0), name="no_figure_counts_less_than_nothing"),
        ]
        indexes = [
            # Used by metrics.rollup.writing. No B-tree: a plan for any period would read all figures of its days.
            HashIndex(fields=["day"], name="figures_of_one_day"),
        ]

    def __str__(self) -> str:
        return f"{self.metric} {self.dim} {self.key} {self.day}"


class Deploy(models.Model):
    """A version of the arena, first prepared at this time; charts mark it."""

    version = models.CharField(max_length=40)
    # Empty where none is known.
    commit = models.CharField(max_length=40, blank=True)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["at", "pk"]

    def __str__(self) -> str:
        return f"{self.version} ({self.commit[:8]})" if self.commit else self.version

    @classmethod
    def record(cls, version: str, commit: str) -> None:
        """Store the version unless it is the latest one."""
        latest = cls.objects.last()
        if latest is None or (latest.version, latest.commit) != (version, commit):
            cls.objects.create(version=version, commit=commit)
