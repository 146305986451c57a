import os
from dataclasses import replace
from decimal import Decimal
from urllib.parse import urlsplit

import pgtrigger
from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_variables

from accounts.models import Team
from common.network_zones import Zone, zone_of_url
from common.text import redaction
from models_registry import encryption
from models_registry.providers.addresses import is_allowed
from models_registry.providers.kinds import DIALECTS, LOCAL_KINDS, Dialect, ProviderKind, guess_kind, provider_kinds
from models_registry.validators import (
    validate_endpoint,
    validate_environment_variable,
    validate_passed_names,
    validate_tool_prices,
)

LOCAL_MODEL_ENDPOINT = "${ARENA_LOCAL_MODEL_URL}"


class SiteProviderManager(models.Manager["Provider"]):
    def get_queryset(self) -> models.QuerySet["Provider"]:
        return super().get_queryset().filter(team=None)


class Provider(models.Model):
    """An OpenAI-compatible endpoint with its key, deadlines and limits. team: None for the site."""

    team = models.ForeignKey(Team, models.PROTECT, null=True, blank=True, related_name="+", verbose_name=_("team"))
    name = models.CharField(_("name"), max_length=100)
    base_url = models.CharField(_("base URL"), max_length=300, validators=[validate_endpoint])
    kind = models.CharField(
        _("kind"), max_length=12, choices=provider_kinds, blank=True, default="",
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
    # None: no limit. The same holds for daily_budget.
    calls_at_once = models.PositiveIntegerField(
        _("calls at once"), null=True, blank=True, validators=[MinValueValidator(1)]
    )
    daily_budget = models.DecimalField(
        _("daily budget, US dollars"), max_digits=12, decimal_places=4, null=True, blank=True,
        validators=[MinValueValidator(Decimal(0))],
    )  # fmt: skip
    # Used by calls of the gateway. server_tool_prices: the tool's type → US dollars of a call that may use it.
    passed_names = ArrayField(
        models.CharField(max_length=64), verbose_name=_("also passed on"), default=list, db_default=[], blank=True,
        validators=[validate_passed_names],
    )  # fmt: skip
    fetches_media = models.BooleanField(
        _("fetches pictures and files by their address"), default=False, db_default=False
    )
    server_tool_prices = models.JSONField(
        _("prices of its own tools"), default=dict, db_default={}, blank=True, validators=[validate_tool_prices]
    )
    sends_trace = models.BooleanField(_("receives the trace's id"), default=False, db_default=False)
    # Set for servers without a key by the probes of models_registry.health.reachability.
    is_answering = models.BooleanField(_("answers"), default=False, editable=False)
    # The last answer: None until a server has answered once.
    probed_at = models.DateTimeField(null=True, blank=True, editable=False)
    created_at = models.DateTimeField(db_default=Now())

    # The first one is Django's default, which the administration and related rows use.
    of_every_owner = models.Manager["Provider"]()
    objects = SiteProviderManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["team", "base_url", "api_key_env"], nulls_distinct=False,
                name="a_provider_is_known_by_its_address_and_key_variable",
            ),
            # A manager chooses the address: it must not receive a secret of this machine.
            models.CheckConstraint(
                condition=models.Q(team=None) | (models.Q(api_key_env="") & ~models.Q(base_url=LOCAL_MODEL_ENDPOINT)),
                name="a_teams_provider_has_a_stored_key_only",
            ),
        ]  # fmt: skip
        triggers = [pgtrigger.ReadOnly(name="a_provider_stays_with_its_owner", fields=["team"])]

    def __str__(self) -> str:
        return self.name

    @property
    def known_kind(self) -> ProviderKind:
        """Return the configured kind, or the address's usual one."""
        return ProviderKind(self.kind) if self.kind else guess_kind(self.base_url)

    @property
    def dialect(self) -> Dialect:
        dialect = DIALECTS[self.known_kind]
        if dialect.accepts is None or not (self.passed_names or self.server_tool_prices):
            return dialect
        return replace(dialect, accepts=dialect.accepts.union(self.passed_names, self.server_tool_prices))

    @property
    def may_fetch_media(self) -> bool:
        """Return whether callers may name addresses: a server here would fetch inside of the operator's network."""
        return self.fetches_media and not self.is_local

    @property
    def is_local(self) -> bool:
        is_named = "." not in (urlsplit(self.base_url).hostname or "")
        return self.known_kind in LOCAL_KINDS or is_named or zone_of_url(self.base_url) not in (None, Zone.PUBLIC)

    def clean(self) -> None:
        if self.fetches_media and self.is_local:
            sentence = _("A server in your own network would fetch addresses there for any caller. Leave this off.")
            raise ValidationError({"fetches_media": sentence})

    @property
    def endpoint(self) -> str:
        """Return "" while the local model is not running."""
        return self.base_url.replace(LOCAL_MODEL_ENDPOINT, settings.ARENA_LOCAL_MODEL_URL)

    @property
    def has_allowed_address(self) -> bool:
        """Return whether the URL's address is allowed; connections check those of names."""
        zone = zone_of_url(self.base_url)
        return self.base_url == LOCAL_MODEL_ENDPOINT or is_allowed(zone, allows_private=self.allows_private)

    @property
    def allows_private(self) -> bool | None:
        """Return whether a team's provider may be in a private network; None for the site's."""
        return None if self.team is None else (urlsplit(self.base_url).hostname or "") in self.team.private_hosts

    @property
    def has_key(self) -> bool:
        return bool(self.key_encrypted) or bool(self.api_key_env and os.environ.get(self.api_key_env))

    def read_key(self) -> str:
        """Return the stored key or the environment variable's, or "". Raises encryption.KeyUnreadable."""
        if self.key_encrypted:
            key = encryption.decrypt(bytes(self.key_encrypted))
        else:
            key = os.environ.get(self.api_key_env, "") if self.api_key_env else ""
        redaction.register_secret(key)
        return key

    @sensitive_variables("key")
    def store_key(self, key: str) -> None:
        """Encrypt `key` into this row without saving; last four characters and fingerprint stay readable."""
        redaction.register_secret(key)
        self.key_encrypted = encryption.encrypt(key)
        self.key_last_four = key[-4:] if len(key) >= 12 else ""
        self.key_fingerprint = encryption.fingerprint(key)

    def clear_key(self) -> None:
        """Remove the stored key from this row without saving."""
        self.key_encrypted, self.key_last_four, self.key_fingerprint = None, "", ""

    @property
    def unavailable_reason(self) -> str:
        """Return a sentence for administrators; "" if the provider can be called now."""
        if not self.needs_key and not self.is_answering:
            return self.setup_problem or gettext("Its server does not answer.")
        return self.setup_problem

    @property
    def setup_problem(self) -> str:
        """Return what administrators have to do; "" even if a server that answered once is away."""
        # People's pages and refusals use this: a server that is away may have failed in a blind battle.
        if not self.endpoint:
            return gettext("The local model is not running.")
        if not self.has_allowed_address and self.team_id is not None:
            return gettext("Its address is in a private network, which an administrator has to allow.")
        if not self.has_allowed_address:
            return gettext("Its address is in a private network, which ARENA_ALLOW_PRIVATE_PROVIDERS does not allow.")
        if self.needs_key and not self.has_key:
            if self.api_key_env:
                return gettext("%(variable)s is not set, and no key is stored.") % {"variable": self.api_key_env}
            return gettext("Its key is missing.")
        if not self.needs_key and not self.is_answering and self.probed_at is None:
            return gettext("Its server does not answer.")
        return ""

    @property
    def deadlines(self) -> dict[str, float]:
        """Return seconds for connect, first, idle and total: the provider's, or the site's."""
        own = {name: getattr(self, f"{name}_s") for name in settings.ARENA_DEADLINES}
        return {name: own[name] or site for name, site in settings.ARENA_DEADLINES.items()}
