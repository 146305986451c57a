from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import Count, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext

from accounts.models import Team
from models_registry import drawable_cache
from models_registry.models import Breaker, Catalogue, LanguageModel, LanguageModelQuerySet, Provider
from models_registry.picking import setup_gap

# Calls of open battles open breakers, so that a fresh one could tell a blind battle's models (docs/adr/0029).
SHOWN_AFTER = timedelta(hours=1)


class ModelRow(NamedTuple):
    """gap: why it cannot be used, as a picker says. failing_since: of its breaker, an hour late."""

    model: LanguageModel
    gap: str
    failing_since: datetime | None


class SiteRow(NamedTuple):
    model: LanguageModel
    is_hidden: bool


class ProviderRow(NamedTuple):
    provider: Provider
    key: str
    problem: str
    failure: str  # of the last request for its list
    models: int


def model_rows(team: Team) -> list[ModelRow]:
    """Four queries."""
    models = list(own_models(team).exclude(status=LanguageModel.Status.RETIRED).order_by("name", "version", "pk"))
    since = _failing_since()
    return [
        ModelRow(
            model,
            gettext("draft") if model.status == LanguageModel.Status.DRAFT else setup_gap(model),
            since.get(("model", model.pk)) or since.get(("provider", model.provider_id)),
        )
        for model in models
    ]


def site_rows(team: Team) -> list[SiteRow]:
    if not team.uses_site_models:
        return []
    hidden = set(own_models(team).hiding_names().values_list("slug", flat=True))
    chosen = sorted(drawable_cache.roster_of(None).choosable, key=lambda model: (model.name.casefold(), model.pk))
    return [SiteRow(model, model.slug in hidden) for model in chosen]


def own_models(team: Team) -> LanguageModelQuerySet:
    own = LanguageModel.of_every_owner.filter(team=team)
    return own.select_related("team", "provider__team").prefetch_related("prices")


def own_providers(team: Team) -> QuerySet[Provider]:
    return Provider.of_every_owner.filter(team=team).select_related("team").order_by("name", "pk")


def provider_rows(team: Team) -> list[ProviderRow]:
    """Two queries."""
    providers = own_providers(team).annotate(models_served=Count("models", filter=~Q(models__status="retired")))
    failures = dict(Catalogue.objects.filter(provider__team=team).values_list("provider", "failure"))
    return [
        ProviderRow(
            provider, key_words(provider), provider.setup_problem, failures.get(provider.pk, ""),
            provider.models_served,
        )
        for provider in providers
    ]  # fmt: skip


def key_words(provider: Provider) -> str:
    if not provider.key_encrypted:
        return gettext("no key")
    end = provider.key_last_four
    return gettext("key …%(end)s") % {"end": end} if end else gettext("key stored")


def _failing_since() -> dict[tuple[str, int], datetime | None]:
    late = Breaker.objects.open().filter(opened_at__lt=timezone.now() - SHOWN_AFTER)
    return {
        ("model", breaker.model_id) if breaker.model_id else ("provider", breaker.provider_id or 0): breaker.opened_at
        for breaker in late
    }
