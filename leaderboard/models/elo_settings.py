from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from common.cache import TTLCached
from common.db.execution import rows_if_migrated
from leaderboard.rating import elo

MAX_START = 10_000


class EloSettings(models.Model):
    """Start and K of the live Elo. The one row; without it the defaults hold."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1, editable=False)
    start = models.FloatField(
        _("start"), default=elo.START, validators=[MinValueValidator(0), MaxValueValidator(MAX_START)],
        help_text=_("Rating of a model before its first vote."),
    )  # fmt: skip
    k = models.FloatField(
        "K", default=elo.K, validators=[MinValueValidator(1), MaxValueValidator(elo.MAX_K)],
        help_text=_("Greatest change of a rating by one vote. After a change all ratings are computed anew."),
    )  # fmt: skip

    class Meta:
        verbose_name = _("live Elo")
        verbose_name_plural = _("live Elo")
        constraints = [
            models.CheckConstraint(condition=Q(id=1), name="there_are_one_start_and_one_k"),
            models.CheckConstraint(
                condition=Q(k__range=(1, elo.MAX_K), start__range=(0, MAX_START)), name="start_and_k_are_in_range"
            ),
        ]

    def __str__(self) -> str:
        return str(_("start %(start)g, K %(k)g") % {"start": self.start, "k": self.k})


def _load() -> EloSettings:
    return next(iter(rows_if_migrated(EloSettings.objects.all())), EloSettings())


elo_settings = TTLCached(_load, ttl_s=5, invalidated_by=(EloSettings,))
