from datetime import timedelta

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from models_registry.models.language_models import LanguageModel
from models_registry.providers.repairs import parameter_of

REMEMBERED_FOR = timedelta(days=1)
REFUTED_FOR = timedelta(hours=1)


class RequestRepairQuerySet(models.QuerySet["RequestRepair"]):
    def in_force(self) -> "RequestRepairQuerySet":
        return self.filter(Q(expires_at=None) | Q(expires_at__gt=Now()), state=RequestRepair.State.CONFIRMED)

    def due(self) -> "RequestRepairQuerySet":
        return self.filter(due_at__lte=Now())

    def take(self, pk: int, *, lease: timedelta) -> bool:
        return self.due().filter(pk=pk).update(due_at=Now() + lease) == 1

    def undecided(self) -> "RequestRepairQuerySet":
        return self.in_force().filter(battles_go_on=False, repair__startswith="-")


class RequestRepair(models.Model):
    """Part of a model's own requests that its provider refuses, and the form that it accepts."""

    class State(models.TextChoices):
        SUSPECTED = "suspected", _("to be checked")
        CONFIRMED = "confirmed", _("in force")
        REFUTED = "refuted", _("not confirmed")

    # No constraint: the release before deletes models without knowing this table.
    model = models.ForeignKey(
        LanguageModel, models.CASCADE, related_name="repairs", verbose_name=_("model"), db_constraint=False
    )
    # A name of models_registry.providers.repairs.
    repair = models.CharField(_("repair"), max_length=80)
    state = models.CharField(_("state"), max_length=9, choices=State, default=State.SUSPECTED)
    battles_go_on = models.BooleanField(
        _("battles go on"), default=False,
        help_text=_("Without a parameter of its own the model is another contestant under the same name."),
    )  # fmt: skip
    seen_at = models.DateTimeField(_("last seen"), default=timezone.now)
    # NULL for a setting.
    expires_at = models.DateTimeField(_("until"), null=True, blank=True)
    due_at = models.DateTimeField(null=True, editable=False)

    objects = RequestRepairQuerySet.as_manager()

    class Meta:
        verbose_name = _("repair of requests")
        verbose_name_plural = _("repairs of requests")
        ordering = ["model__name", "repair"]
        constraints = [
            models.UniqueConstraint(fields=["model", "repair"], name="a_model_has_a_repair_once"),
        ]

    def __str__(self) -> str:
        return f"{self.model}: {self.repair}"

    @property
    def parameter(self) -> str:
        return parameter_of(self.repair)

    @property
    def changes_contestant(self) -> bool:
        return self.parameter in self.model.own_sampling

    @property
    def sentence(self) -> str:
        if self.changes_contestant:
            return gettext("The provider refuses “%(name)s”: without it, this is another contestant.") % {
                "name": self.parameter
            }
        if self.parameter:
            return gettext("“%(name)s” is left out, because the provider refuses it.") % {"name": self.parameter}
        return gettext("The provider accepts requests in another form: %(repair)s.") % {"repair": self.repair}
