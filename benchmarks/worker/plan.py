"""A run as its driver sees it, read anew every second."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Sum
from django.db.models.functions import Now

from battles.models import Call
from battles.worker.call_slots import is_limited
from benchmarks.models import Entrant, Run, RunCount, RunItem
from benchmarks.scores import CheckSet
from benchmarks.worker import pace
from benchmarks.worker.fairness import max_min_shares
from benchmarks.worker.store import RunFacts
from models_registry.models import Breaker, LanguageModel, Provider

# A person's call that waits for longer stops a background call to a free model.
PREEMPT_AFTER = timedelta(seconds=0.5)


@dataclass(frozen=True)
class Plan:
    """State of a run, the entrants that can be asked now, and the run's share of each provider."""

    state: str
    entrants: Mapping[int, Entrant]
    # Calls at once by provider id: of all runs, and of this one.
    paces: dict[int, int]
    shares: Mapping[int, int]
    # Providers with a limit and with free models: only there a call is stopped for a person's.
    preemptible: frozenset[int]
    has_unavailable_models: bool = False

    def wanted(self, running: Mapping[int, int]) -> dict[int, int]:
        """Return how many more items to claim by provider id. running: this run's calls by provider id."""
        return {pk: most for pk, share in self.shares.items() if (most := share - running.get(pk, 0)) > 0}


def read_facts(run_id: int) -> RunFacts:
    run = Run.objects.select_related("version", "checks_version").get(pk=run_id)
    return RunFacts(run.pk, run.owner_id, run.attempts, CheckSet(run.scoring_version))


def read_plan(run_id: int) -> Plan:
    run = Run.objects.only("state").get(pk=run_id)
    entrants = Entrant.objects.filter(run=run_id, model__isnull=False)
    asked = list(entrants.select_related("model__provider").prefetch_related("model__prices"))
    models = {entrant.model for entrant in asked if entrant.model is not None}
    providers = {model.provider_id: model.provider for model in models}
    paces = pace.read_paces(providers)
    demands = _demands(providers)
    shares = {
        pk: max_min_shares(min(paces[pk], pace.room_at(provider)), demands[pk]).get(run_id, 0)
        for pk, provider in providers.items()
    }
    available = _available_models(models)
    return Plan(
        run.state,
        {entrant.pk: entrant for entrant in asked if entrant.model_id in available},
        paces,
        shares,
        frozenset(model.provider_id for model in models if not model.is_paid and is_limited(model)),
        len(available) < len(models),
    )


def _demands(providers: Mapping[int, Provider]) -> dict[int, dict[int, int]]:
    """Return by provider id the calls that each running run could make there at once."""
    counts = (
        RunCount.objects.filter(
            entrant__run__state=Run.State.RUNNING,
            entrant__model__provider__in=list(providers),
            state__in=[RunItem.State.QUEUED, RunItem.State.ANSWERING],
            n__gt=0,
        )
        .values_list("entrant__model__provider", "entrant__run", "entrant__run__concurrency")
        .annotate(items=Sum("n"))
    )
    demands: dict[int, dict[int, int]] = defaultdict(dict)
    for provider_id, run_id, concurrency, items in counts:
        demands[provider_id][run_id] = min(items, concurrency)
    return demands


def _available_models(models: set[LanguageModel]) -> set[int]:
    """Return ids of models that are active and whose breakers are closed."""
    breakers = list(Breaker.objects.open().values_list("model_id", "provider_id"))
    open_models, open_providers = {pk for pk, _ in breakers}, {pk for _, pk in breakers}
    return {
        model.pk
        for model in models
        if model.status == LanguageModel.Status.ACTIVE
        and model.pk not in open_models
        and model.provider_id not in open_providers
    }


def providers_with_waiting_people(providers: frozenset[int]) -> set[int]:
    """Return ids of providers where a person's call has waited for PREEMPT_AFTER."""
    waiting = Call.objects.holding_or_waiting().filter(
        state=Call.State.WAITING, model__provider__in=providers, started_at__lt=Now() - PREEMPT_AFTER
    )
    return set(waiting.values_list("model__provider", flat=True))
