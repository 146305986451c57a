from collections import defaultdict
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import pgtrigger
from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.models import Team
from common.db.triggers import refuse_rows
from common.payload_types import JsonObject
from common.text.storable import has_unstorable
from models_registry.models.availability import Availability
from models_registry.models.prices import Price
from models_registry.models.providers import Provider
from models_registry.providers.kinds import CAPS
from models_registry.validators import validate_model_slug, validate_parameters

# Stands in full slugs, and in no slug.
TEAM_SEPARATOR = "~"

_OWNERS_DIFFER = """NOT EXISTS (
        SELECT FROM models_registry_provider WHERE id = NEW.provider_id AND team_id IS NOT DISTINCT FROM NEW.team_id
    )"""


class LanguageModelQuerySet(models.QuerySet["LanguageModel"]):
    def hiding_names(self) -> "LanguageModelQuerySet":
        """Filter a team's models to those that stand for the site's of their names."""
        return self.filter(status__in=[LanguageModel.Status.ACTIVE, LanguageModel.Status.PAUSED])

    def named(self, names: Iterable[str]) -> "LanguageModelQuerySet":
        """Filter by full_slug."""
        of_owners: dict[str, list[str]] = defaultdict(list)
        for name in names:
            team, separator, slug = name.rpartition(TEAM_SEPARATOR)
            if (team or not separator) and not has_unstorable(name):
                of_owners[team].append(slug)
        found = Q(team=None, slug__in=of_owners.pop("", []))
        for team, slugs in of_owners.items():
            found |= Q(team__slug=team, slug__in=slugs)
        return self.filter(found)

    def public(self) -> "LanguageModelQuerySet":
        """Filter publicly listed models, with provider and prices."""
        listed = self.exclude(status=LanguageModel.Status.DRAFT).select_related("provider")
        return listed.prefetch_related("prices").order_by("name", "version", "pk")

    def matching(self, search: str) -> "LanguageModelQuerySet":
        """Filter by words of names, ids, organizations and licences."""
        found = self
        for word in search.split():
            found = found.filter(
                Q(name__icontains=word) | Q(slug__icontains=word) | Q(organization__icontains=word)
                | Q(provider__name__icontains=word) | Q(license__icontains=word)
            )  # fmt: skip
        return found

    def lock_newest(self, family: str) -> "LanguageModel | None":
        """Return the family's latest version, locked until COMMIT."""
        return self.select_for_update().filter(family=family).order_by("-version").first()

    def configured(self) -> list["LanguageModel"]:
        """Return active models of providers that are set up, prices prefetched."""
        return self.prefetch_related("prices").with_provider_set_up()

    def with_provider_set_up(self) -> list["LanguageModel"]:
        """Return active models whose provider has its key, or a server that answered once."""
        active = self.filter(status=LanguageModel.Status.ACTIVE, weight__gt=0).select_related("provider")
        return [model for model in active.order_by("pk") if not model.provider.setup_problem]

    def drawable(self) -> list["LanguageModel"]:
        """Return configured models without an open breaker or exhausted budget; six queries at most."""
        models = self.configured()
        availability = Availability(models)
        availability.lower_trial_weights(models)
        return [model for model in models if not availability.unavailable_reason(model)]


_OwnersManager = models.Manager.from_queryset(LanguageModelQuerySet)


class SiteModelManager(_OwnersManager["LanguageModel"]):
    """The site's models; those of teams only by naming the place."""

    def get_queryset(self) -> LanguageModelQuerySet:
        return LanguageModelQuerySet(self.model, using=self._db).filter(team=None)

    def on_boards_of(self, team_id: int | None) -> LanguageModelQuerySet:
        """Return models that may have votes there: the site's, also if hidden or not wanted, and the team's."""
        everything = LanguageModelQuerySet(self.model, using=self._db)
        return self.get_queryset() if team_id is None else everything.filter(Q(team=None) | Q(team=team_id))

    def in_place(self, team_id: int | None) -> LanguageModelQuerySet:
        """Return a team's models, and the site's if it wants them and has none of this name. None: the site's."""
        if team_id is None:
            return self.get_queryset()
        everything = LanguageModelQuerySet(self.model, using=self._db)
        hiding = everything.hiding_names().filter(team=team_id, slug=OuterRef("slug"))
        wants_sites = Team.objects.filter(pk=team_id, uses_site_models=True)
        of_site = Q(Exists(wants_sites), ~Exists(hiding), team=None)
        return everything.filter(Q(team=team_id) | of_site).select_related("team", "provider__team")


class LanguageModel(models.Model):
    """Contestant: an upstream model with system prompt and parameters, fixed once it has votes."""

    class Status(models.TextChoices):
        DRAFT = "draft", _("draft")
        ACTIVE = "active", _("active")
        PAUSED = "paused", _("paused")
        RETIRED = "retired", _("retired")

    class LicenseKind(models.TextChoices):
        OPEN = "open", _("open")
        PROPRIETARY = "proprietary", _("proprietary")
        UNKNOWN = "unknown", _("unknown")

    class Ability(models.TextChoices):
        IMAGES = "images", _("sees images")
        TOOLS = "tools", _("calls tools")

    # Those by which a draw can be narrowed.
    KNOWN_LICENSE_KINDS = LicenseKind.choices[:2]
    # Length of full_slug.
    MAX_NAME = 161
    # Fields that influence the answers. A change of one needs a new version if the model has votes.
    BEHAVIOUR = ("provider_id", "upstream_name", "system_prompt", "parameters")

    # None: the site.
    team = models.ForeignKey(Team, models.PROTECT, null=True, blank=True, related_name="+", verbose_name=_("team"))
    provider = models.ForeignKey(Provider, models.PROTECT, related_name="models")
    upstream_name = models.CharField(_("upstream name"), max_length=200)
    slug = models.CharField(max_length=120, validators=[validate_model_slug])
    family = models.CharField(max_length=100, db_index=True, editable=False)
    version = models.PositiveIntegerField(default=1, editable=False)
    name = models.CharField(_("display name"), max_length=120)
    organization = models.CharField(_("organization"), max_length=120, blank=True)
    license = models.CharField(_("licence"), max_length=120, blank=True)
    license_kind = models.CharField(_("licence kind"), max_length=12, choices=LicenseKind, default=LicenseKind.UNKNOWN)
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

    # The first one is Django's default, which the administration and related rows use.
    of_every_owner = LanguageModelQuerySet.as_manager()
    objects = SiteModelManager()

    class Meta:
        ordering = ["name", "version"]
        constraints = [
            models.UniqueConstraint(fields=["slug", "team"], nulls_distinct=False, name="an_owner_names_a_model_once"),
            models.UniqueConstraint(
                fields=["family", "version", "team"], nulls_distinct=False, name="a_family_has_each_version_once"
            ),
            models.CheckConstraint(condition=models.Q(weight__gte=0), name="a_sampling_weight_is_not_negative"),
        ]
        triggers = [
            pgtrigger.ReadOnly(name="a_model_stays_with_its_owner", fields=["team"]),
            refuse_rows("a_models_provider_is_its_owners", _OWNERS_DIFFER, updated=("provider_id",)),
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
    def full_slug(self) -> str:
        """Return `<team>~<slug>` for a team's model: its slug may be the site's, too."""
        return self.slug if self.team is None else f"{self.team.slug}{TEAM_SEPARATOR}{self.slug}"

    @property
    def contestant_name(self) -> str:
        """Return the name in counts and facts of boards, which no renaming of the team changes: `~<slug>` for its own.

        A board has models of the site and of its own team only.
        """
        return self.slug if self.team_id is None else f"{TEAM_SEPARATOR}{self.slug}"

    @property
    def slugs(self) -> tuple[str, ...]:
        return (self.slug,) if self.team_id is None else (self.slug, self.full_slug)

    @property
    def sent_parameters(self) -> JsonObject:
        """Return parameters in the provider's dialect. They always cap the answer, and so its cost."""
        return self.parameters_with({})

    def parameters_with(self, overrides: JsonObject) -> JsonObject:
        """Return sent_parameters with some replaced. A cap replaces the other name for it."""
        own = self.parameters
        if not CAPS.isdisjoint(overrides):
            own = {name: value for name, value in own.items() if name not in CAPS}
        parameters = own | overrides
        cap = {} if not CAPS.isdisjoint(parameters) else {"max_tokens": settings.ARENA_MAX_TOKENS}
        return self.provider.dialect.body(self.upstream_name, parameters | cap)

    @property
    def unsent_parameters(self) -> list[str]:
        """Return names of parameters that the provider would refuse or ignore."""
        return self.provider.dialect.unsent(self.upstream_name, self.parameters)

    @property
    def own_sampling(self) -> frozenset[str]:
        """Return registered parameters but the cap, as they are sent: without one, it is another contestant."""
        renames = self.provider.dialect.renames
        return frozenset(renames.get(name, name) for name in self.parameters) - CAPS

    @property
    def unavailable_reason(self) -> str:
        """Return a sentence for administrators; "" if the model can be drawn. Up to five queries."""
        return Availability([self]).unavailable_reason(self)

    @property
    def price(self) -> Price | None:
        """Return the current price; uses prefetched prices."""
        return max(self.prices.all(), key=lambda price: (price.valid_from, price.pk), default=None)

    @property
    def max_tokens(self) -> int:
        caps = [int(self.parameters[name]) for name in CAPS & self.parameters.keys()]
        return max(caps, default=int(settings.ARENA_MAX_TOKENS))

    @property
    def sees_images(self) -> bool:
        return self.Ability.IMAGES in self.abilities

    @property
    def is_paid(self) -> bool:
        return self.price is not None and self.price.is_above_zero
