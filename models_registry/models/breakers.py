from datetime import timedelta
from functools import reduce
from operator import or_

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from models_registry.breaker_rule import BY_PEOPLE, DOWN, FAILED, PERSONAL, REJECTED


class BreakerQuerySet(models.QuerySet["Breaker"]):
    def open(self) -> "BreakerQuerySet":
        return self.filter(probe_at__isnull=False)

    def of_site(self) -> "BreakerQuerySet":
        return self.filter(model__team=None, provider__team=None)

    def of_active(self) -> "BreakerQuerySet":
        """Leave out those of models out of use, which no probe closes; a provider has a row for each active model."""
        return self.filter(Q(model__status="active") | Q(provider__models__status="active"))

    def due(self) -> "BreakerQuerySet":
        """Filter breakers whose cooldown is over, except those of inactive models."""
        is_active = Q(model=None) | Q(model__status="active")
        return self.filter(is_active, probe_at__lte=Now()).exclude(recent=BY_PEOPLE)

    def of_model(self, model: int, provider: int) -> "BreakerQuerySet":
        return self.filter(Q(model=model) | Q(provider=provider))

    def with_failures(self) -> "BreakerQuerySet":
        """Filter breakers with failures that a successful call has to reset."""
        letters = [Q(recent__contains=letter) for letter in (FAILED, REJECTED, DOWN, PERSONAL)]
        return self.filter(reduce(or_, letters) | Q(openings__gt=0))

    def reset_by_answers(self) -> "BreakerQuerySet":
        return self.with_failures().filter(probe_at=None) | self.filter(recent=BY_PEOPLE)

    def take_probe(self, pk: int, *, lease: timedelta) -> bool:
        """Claim a due probe; after `lease` another worker can claim it again."""
        due = self.filter(pk=pk, probe_at__lte=Now()).exclude(recent=BY_PEOPLE)
        return due.update(probe_at=Now() + lease) == 1


class Breaker(models.Model):
    """Open while `probe_at` is set: its model, or every model of its provider, is not drawn."""

    model = models.OneToOneField("models_registry.LanguageModel", models.CASCADE, null=True, related_name="breaker")
    provider = models.OneToOneField("models_registry.Provider", models.CASCADE, null=True, related_name="breaker")
    # The last outcomes, newest last, as models_registry.breaker_rule encodes them.
    recent = models.CharField(max_length=10, blank=True)
    # Openings since the last answer.
    openings = models.PositiveSmallIntegerField(default=0)
    reason = models.CharField(_("reason"), max_length=40, blank=True)
    opened_at = models.DateTimeField(_("open since"), null=True)
    probe_at = models.DateTimeField(_("next probe"), null=True)

    objects = BreakerQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(model__isnull=True) ^ Q(provider__isnull=True),
                name="a_breaker_is_about_a_model_or_a_provider",
            ),
            models.CheckConstraint(
                condition=Q(probe_at__isnull=True) | Q(opened_at__isnull=False), name="an_open_breaker_says_since_when"
            ),
        ]
        indexes = [
            # Used by every draw and by the sweeper: BreakerQuerySet.open and due.
            models.Index(fields=["probe_at"], name="breakers_open", condition=Q(probe_at__isnull=False))
        ]

    def __str__(self) -> str:
        return f"breaker of {self.model or self.provider}"

    @property
    def is_by_people(self) -> bool:
        # An answered call closes it, and no probe.
        return self.recent == BY_PEOPLE

    @property
    def is_on_trial(self) -> bool:
        # Its model is drawn at the lowest weight until a call is answered.
        return self.is_by_people and self.probe_at is not None and self.probe_at <= timezone.now()

    @property
    def unavailable_reason(self) -> str:
        if self.is_by_people:
            sentence = gettext(
                "Ten conversations of several people had no answer (%(reason)s). It is drawn at the lowest weight from "
                "%(time)s UTC on."
            )
            return sentence % {"reason": self.reason, "time": f"{self.probe_at:%H:%M:%S}"}
        sentence = (
            gettext("It failed repeatedly (%(reason)s) and is probed from %(time)s UTC on.")
            if self.model_id
            else gettext("Its provider failed repeatedly (%(reason)s) and is probed from %(time)s UTC on.")
        )
        return sentence % {"reason": self.reason, "time": f"{self.probe_at:%H:%M:%S}"}
