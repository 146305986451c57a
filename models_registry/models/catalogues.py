"""The rows of what endpoints serve: each provider's last list, and what in it differs from the registry."""

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

GOOD_FOR = timedelta(hours=24)


class CatalogueQuerySet(models.QuerySet["Catalogue"]):
    def claim(self, provider_id: int, *, older_than: timedelta) -> bool:
        """Let one worker ask a provider that was not asked for so long."""
        self.bulk_create([Catalogue(provider_id=provider_id)], ignore_conflicts=True)
        is_due = Q(asked_at=None) | Q(asked_at__lt=Now() - older_than)
        return self.filter(is_due, provider=provider_id).update(asked_at=Now()) == 1


class Catalogue(models.Model):
    """What a provider's endpoint said it serves; `failure` says why the newest attempt brought nothing."""

    provider = models.OneToOneField("models_registry.Provider", models.CASCADE, related_name="catalogue")
    asked_at = models.DateTimeField(null=True)
    fetched_at = models.DateTimeField(null=True)
    # Offer.as_json() of each.
    listed = models.JSONField(default=list)
    failure = models.TextField(blank=True)

    objects = CatalogueQuerySet.as_manager()

    def __str__(self) -> str:
        return f"catalogue of {self.provider}"

    @property
    def is_fresh(self) -> bool:
        return self.fetched_at is not None and timezone.now() - self.fetched_at < GOOD_FOR

    @property
    def offers(self) -> list[Offer]:
        return [Offer.from_json(said) for said in self.listed]


class CatalogueChangeQuerySet(models.QuerySet["CatalogueChange"]):
    def waiting(self) -> "CatalogueChangeQuerySet":
        return self.filter(state=CatalogueChange.State.PROPOSED)


class CatalogueChange(models.Model):
    """What a provider's list says differently of a model of ours; nothing changes before somebody accepts it."""

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
    # {"input": "0.1", "output": "0.5"}, {"tokens": 8192}, or {} for what is not known or not there.
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
        # Those that wait for a decision first.
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
    def words(self) -> str:
        """What differs, for administrators."""
        match self.kind:
            case self.Kind.PRICE:
                return f"{_price_words(self.before)} → {_price_words(self.after)}"
            case self.Kind.CONTEXT:
                return f"{self.before.get('tokens') or gettext('not known')} → {self.after['tokens']}"
        return gettext("The provider no longer lists it. Consider retiring it.")


def _price_words(price: JsonObject) -> str:
    """US dollars per million tokens, as Price says it."""
    if not price:
        return gettext("not known")
    said = {name: dollars(plain_decimal(Decimal(amount))) for name, amount in price.items()}
    return gettext("%(input)s in, %(output)s out") % said
