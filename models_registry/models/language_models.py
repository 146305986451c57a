"""What is ranked and where it is served: providers, language models, prices."""

import os
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_variables

from common.payload_types import JsonObject
from common.text import redaction
from models_registry import encryption
from models_registry.models.availability import Obstacles
from models_registry.models.breakers import Breaker
from models_registry.models.catalogues import Catalogue, CatalogueChange
from models_registry.models.ledger import Charge, PaidCallsHalt, SpendingDay
from models_registry.models.prices import Price
from models_registry.providers.addresses import is_allowed, zone_of_url
from models_registry.providers.kinds import CAPS, DIALECTS, Dialect, ProviderKind, guess_kind
from models_registry.validators import (
    validate_endpoint,
    validate_environment_variable,
    validate_model_slug,
    validate_parameters,
)

__all__ = [
    "Breaker", "Catalogue", "CatalogueChange", "Charge", "LanguageModel", "PaidCallsHalt", "Price", "Provider",
    "SpendingDay",
]  # fmt: skip

LOCAL_MODEL_ENDPOINT = "${ARENA_LOCAL_MODEL_URL}"


class Provider(models.Model):
    """An OpenAI-compatible endpoint, the key it wants, and how patient we are with it."""

    name = models.CharField(_("name"), max_length=100)
    base_url = models.CharField(_("base URL"), max_length=300, validators=[validate_endpoint])
    kind = models.CharField(
        _("kind"), max_length=12, choices=ProviderKind, blank=True, default="",
        help_text=_("Decides what is sent with a request. Empty: guessed from the address."),
    )  # fmt: skip
    api_key_env = models.CharField(
        _("key's environment variable"),
        max_length=100,
        blank=True,
        validators=[validate_environment_variable],
    )
    key_encrypted = models.BinaryField(null=True, blank=True, editable=False)
    key_last_four = models.CharField(max_length=4, blank=True, editable=False)
    key_fingerprint = models.CharField(max_length=12, blank=True, editable=False)
    needs_key = models.BooleanField(_("needs a key"), default=True)
    connect_s = models.FloatField(_("connect deadline"), null=True, blank=True, validators=[MinValueValidator(0.1)])
    first_s = models.FloatField(_("first token deadline"), null=True, blank=True, validators=[MinValueValidator(0.1)])
    idle_s = models.FloatField(_("idle deadline"), null=True, blank=True, validators=[MinValueValidator(0.1)])
    total_s = models.FloatField(_("total deadline"), null=True, blank=True, validators=[MinValueValidator(0.1)])
    finish_reason_required = models.BooleanField(_("an answer needs a finish reason"), default=True)
    # Empty: as many as come, and as much as they cost.
    calls_at_once = models.PositiveIntegerField(
        _("calls at once"), null=True, blank=True, validators=[MinValueValidator(1)]
    )
    daily_budget = models.DecimalField(
        _("daily budget, US dollars"), max_digits=12, decimal_places=4, null=True, blank=True,
        validators=[MinValueValidator(Decimal(0))],
    )  # fmt: skip
    # A server without a key is asked now and then whether it answers (models_registry.health.reachability).
    is_answering = models.BooleanField(_("answers"), default=False, editable=False)
    probed_at = models.DateTimeField(null=True, blank=True, editable=False)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["base_url", "api_key_env"], name="a_provider_is_known_by_its_address_and_key_variable"
            )
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def known_kind(self) -> ProviderKind:
        """What somebody said it is, or what its address tells."""
        return ProviderKind(self.kind) if self.kind else guess_kind(self.base_url)

    @property
    def dialect(self) -> Dialect:
        return DIALECTS[self.known_kind]

    @property
    def endpoint(self) -> str:
        """The base URL to call; empty while the local model is not running."""
        return self.base_url.replace(LOCAL_MODEL_ENDPOINT, settings.ARENA_LOCAL_MODEL_URL)

    @property
    def has_allowed_address(self) -> bool:
        """As far as its URL tells; what a name points to is checked with every connection."""
        return self.base_url == LOCAL_MODEL_ENDPOINT or is_allowed(zone_of_url(self.base_url))

    @property
    def has_key(self) -> bool:
        return bool(self.key_encrypted) or bool(self.api_key_env and os.environ.get(self.api_key_env))

    def read_key(self) -> str:
        """The key to send, or "". Raises encryption.KeyUnreadable."""
        if self.key_encrypted:
            key = encryption.decrypt(bytes(self.key_encrypted))
        else:
            key = os.environ.get(self.api_key_env, "") if self.api_key_env else ""
        redaction.register_secret(key)
        return key

    @sensitive_variables("key")
    def store_key(self, key: str) -> None:
        """Encrypt `key` onto this row (not saved); only its last four characters and fingerprint stay readable."""
        redaction.register_secret(key)
        self.key_encrypted = encryption.encrypt(key)
        self.key_last_four = key[-4:] if len(key) >= 12 else ""
        self.key_fingerprint = encryption.fingerprint(key)

    def forget_key(self) -> None:
        """Remove the stored key from this row (not saved)."""
        self.key_encrypted, self.key_last_four, self.key_fingerprint = None, "", ""

    @property
    def obstacle(self) -> str:
        """Why this provider cannot be called now, as a sentence; "" when it can."""
        if not self.endpoint:
            return gettext("The local model is not running.")
        if not self.has_allowed_address:
            return gettext("Its address is in a private network, which ARENA_ALLOW_PRIVATE_PROVIDERS does not allow.")
        if self.needs_key and not self.has_key:
            if self.api_key_env:
                return gettext("%(variable)s is not set, and no key is stored.") % {"variable": self.api_key_env}
            return gettext("Its key is missing.")
        if not self.needs_key and not self.is_answering:
            return gettext("Its server does not answer.")
        return ""

    @property
    def deadlines(self) -> dict[str, float]:
        """Seconds for connect, first, idle and total: the provider's own, or the site's."""
        own = {name: getattr(self, f"{name}_s") for name in settings.ARENA_DEADLINES}
        return {name: own[name] or site for name, site in settings.ARENA_DEADLINES.items()}


class LanguageModelQuerySet(models.QuerySet["LanguageModel"]):
    def public(self) -> "LanguageModelQuerySet":
        """What anybody may see listed."""
        listed = self.exclude(status=LanguageModel.Status.DRAFT).select_related("provider")
        return listed.prefetch_related("prices").order_by("name", "version", "pk")

    def newest_of(self, family: str) -> "LanguageModel | None":
        """The family's latest version, locked until the transaction ends."""
        return self.select_for_update().filter(family=family).order_by("-version").first()

    def set_up(self) -> list["LanguageModel"]:
        """Active models whose provider can be called: its key is there, or its server answers. Prices are at hand."""
        active = self.filter(status=LanguageModel.Status.ACTIVE, weight__gt=0).select_related("provider")
        return [model for model in active.prefetch_related("prices").order_by("pk") if not model.provider.obstacle]

    def drawable(self) -> list["LanguageModel"]:
        """Those of `set_up` that no breaker and no budget keeps out now; six queries at most."""
        models = self.set_up()
        obstacles = Obstacles(models)
        return [model for model in models if not obstacles.of(model)]


class LanguageModel(models.Model):
    """A contestant: an upstream model and exactly what we say to it. What it says may not change once it has votes."""

    class Status(models.TextChoices):
        DRAFT = "draft", _("draft")
        ACTIVE = "active", _("active")
        PAUSED = "paused", _("paused")
        RETIRED = "retired", _("retired")

    class LicenseKind(models.TextChoices):
        OPEN = "open", _("open")
        PROPRIETARY = "proprietary", _("proprietary")

    class Ability(models.TextChoices):
        IMAGES = "images", _("sees images")
        TOOLS = "tools", _("calls tools")

    # Changing one of these changes what the model says.
    BEHAVIOUR = ("provider_id", "upstream_name", "system_prompt", "parameters")

    provider = models.ForeignKey(Provider, models.PROTECT, related_name="models")
    upstream_name = models.CharField(_("upstream name"), max_length=200)
    slug = models.CharField(max_length=120, unique=True, validators=[validate_model_slug])
    family = models.CharField(max_length=100, db_index=True, editable=False)
    version = models.PositiveIntegerField(default=1, editable=False)
    name = models.CharField(_("display name"), max_length=120)
    organization = models.CharField(_("organization"), max_length=120, blank=True)
    license = models.CharField(_("licence"), max_length=120, blank=True)
    license_kind = models.CharField(
        _("licence kind"), max_length=12, choices=LicenseKind, default=LicenseKind.PROPRIETARY
    )
    size_b = models.DecimalField(
        _("parameters, billions"), max_digits=9, decimal_places=3, null=True, blank=True,
        validators=[MinValueValidator(Decimal(0))],
    )  # fmt: skip
    context_length = models.PositiveIntegerField(_("context length, tokens"), null=True, blank=True)
    abilities = ArrayField(
        models.CharField(max_length=20, choices=Ability), verbose_name=_("abilities"), default=list, blank=True
    )
    system_prompt = models.TextField(_("system prompt"), blank=True)
    parameters = models.JSONField(
        _("sampling parameters"), default=dict, blank=True, validators=[validate_parameters],
        help_text=_("Sent with every request, for example {\"temperature\": 0.7, \"max_tokens\": 1024}."),
    )  # fmt: skip
    weight = models.FloatField(_("sampling weight"), default=1, validators=[MinValueValidator(0)])
    aliases = ArrayField(
        models.CharField(max_length=120), verbose_name=_("aliases"), default=list, blank=True,
        help_text=_("Names this model may call itself by, separated by commas."),
    )  # fmt: skip
    calls_at_once = models.PositiveIntegerField(
        _("calls at once"), null=True, blank=True, validators=[MinValueValidator(1)]
    )
    status = models.CharField(_("status"), max_length=8, choices=Status, default=Status.DRAFT)
    retired_at = models.DateTimeField(null=True, blank=True)
    has_votes = models.BooleanField(default=False, editable=False)
    created_at = models.DateTimeField(db_default=Now())

    objects = LanguageModelQuerySet.as_manager()

    class Meta:
        ordering = ["name", "version"]
        constraints = [
            models.UniqueConstraint(fields=["family", "version"], name="a_family_has_each_version_once"),
            models.CheckConstraint(condition=models.Q(weight__gte=0), name="a_sampling_weight_is_not_negative"),
        ]

    def __str__(self) -> str:
        return self.name if self.version == 1 else f"{self.name} (v{self.version})"

    def save(self, *args: Any, **kwargs: Any) -> None:
        self.family = self.family or self.slug
        if self.status != self.Status.RETIRED:
            self.retired_at = None
        elif self.retired_at is None:
            self.retired_at = timezone.now()
        super().save(*args, **kwargs)

    @property
    def sent_parameters(self) -> JsonObject:
        """What goes with a request, as its provider wants it. Always with a cap: no call can cost without end."""
        is_capped = not CAPS.isdisjoint(self.parameters)
        cap = {} if is_capped else {"max_tokens": settings.ARENA_MAX_TOKENS}
        return self.provider.dialect.body(self.upstream_name, self.parameters | cap)

    @property
    def parameters_left_out(self) -> list[str]:
        """Names of its sampling parameters that its provider would refuse or ignore, and that are not sent."""
        return self.provider.dialect.left_out(self.upstream_name, self.parameters)

    @property
    def obstacle(self) -> str:
        """Why this model is not drawn for battles now, as a sentence; "" when it may be. Up to five queries."""
        return Obstacles([self]).of(self)

    @property
    def price(self) -> Price | None:
        """The price in force now; iterates what is prefetched."""
        return max(self.prices.all(), key=lambda price: (price.valid_from, price.pk), default=None)

    @property
    def most_tokens(self) -> int:
        """What an answer is capped at."""
        caps = [int(self.parameters[name]) for name in CAPS & self.parameters.keys()]
        return max(caps, default=int(settings.ARENA_MAX_TOKENS))

    @property
    def sees_images(self) -> bool:
        return self.Ability.IMAGES in self.abilities

    @property
    def is_paid(self) -> bool:
        """Whether its calls cost anything."""
        return self.price is not None and self.price.is_above_zero
