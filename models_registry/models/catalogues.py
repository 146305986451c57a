from datetime import timedelta
from decimal import Decimal

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from common.payload_types import JsonObject
from common.text.money import dollars, plain_decimal
from models_registry.providers.catalogue import Offer

CATALOGUE_TTL = timedelta(hours=24)


class CatalogueQuerySet(models.QuerySet["Catalogue"]):
    def claim(self, provider_id: int, *, older_than: timedelta) -> bool:
        """Claim the request to a provider whose last one is older than this; True for one worker."""
        self.bulk_create([Catalogue(provider_id=provider_id)], ignore_conflicts=True)
        is_due = Q(asked_at=None) | Q(asked_at__lt=Now() - older_than)
        return self.filter(is_due, provider=provider_id).update(asked_at=Now()) == 1


class Catalogue(models.Model):
    """A provider's last list of models; `failure` is set if the newest request failed."""

    provider = models.OneToOneField("models_registry.Provider", models.CASCADE, related_name="catalogue")
    asked_at = models.DateTimeField(null=True)
    fetched_at = models.DateTimeField(null=True)
    # Offer.to_json() of each model.
    listed = models.JSONField(default=list)
    failure = models.TextField(blank=True)

    objects = CatalogueQuerySet.as_manager()

    def __str__(self) -> str:
        return f"catalogue of {self.provider}"

    @property
    def is_fresh(self) -> bool:
        return self.fetched_at is not None and timezone.now() - self.fetched_at < CATALOGUE_TTL

    @property
    def offers(self) -> list[Offer]:
        return [Offer.from_json(data) for data in self.listed]


class CatalogueChangeQuerySet(models.QuerySet["CatalogueChange"]):
    def waiting(self) -> "CatalogueChangeQuerySet":
        return self.filter(state=CatalogueChange.State.PROPOSED)

    def of_site(self) -> "CatalogueChangeQuerySet":
        """Leave out those of teams, which their managers decide."""
        return self.filter(model__team=None)


class CatalogueChange(models.Model):
    """Difference between a provider's list and a registered model, which an administrator decides."""

    class Kind(models.TextChoices):
        PRICE = "price", _("price")
        CONTEXT = "context", _("context length")
        GONE = "gone", _("no longer served")

    class State(models.TextChoices):
        PROPOSED = "proposed", _("proposed")
        ACCEPTED = "accepted", _("accepted")
        DISMISSED = "dismissed", _("dismissed")

    model = models.ForeignKey("models_registry.LanguageModel", models.CASCADE, related_name="catalogue_changes")
    kind = models.CharField(_("kind"), max_length=7, choices=Kind)
    # {"input": "0.1", "output": "0.5"}, {"tokens": 8192}, or {} for an unknown or missing value.
    before = models.JSONField(default=dict)
    after = models.JSONField(default=dict)
    state = models.CharField(_("state"), max_length=9, choices=State, default=State.PROPOSED)
    found_at = models.DateTimeField(_("found"), db_default=Now())
    decided_at = models.DateTimeField(_("decided"), null=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+", verbose_name=_("by")
    )

    objects = CatalogueChangeQuerySet.as_manager()

    class Meta:
        # Changes without a decision come first.
        ordering = ["-state", "-pk"]
        verbose_name = _("catalogue change")
        constraints = [
            models.UniqueConstraint(
                fields=["model", "kind"],
                condition=Q(state="proposed"),
                name="a_model_has_one_proposal_of_each_kind",
            ),
            models.CheckConstraint(
                condition=Q(state="proposed", decided_at=None) | Q(~Q(state="proposed"), decided_at__isnull=False),
                name="a_decided_change_says_when",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.model}: {self.get_kind_display()}"

    @property
    def summary(self) -> str:
        match self.kind:
            case self.Kind.PRICE:
                return f"{_format_price(self.before)} → {_format_price(self.after)}"
            case self.Kind.CONTEXT:
                return f"{self.before.get('tokens') or gettext('not known')} → {self.after['tokens']}"
        return gettext("The provider no longer lists it. Consider retiring it.")


def _format_price(price: JsonObject) -> str:
    """price: US dollars per million tokens, as decimal strings."""
    if not price:
        return gettext("not known")
    amounts = {name: dollars(plain_decimal(Decimal(amount))) for name, amount in price.items()}
    return gettext("%(input)s in, %(output)s out") % amounts
