"""A run as its driver sees it, read anew every second."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

import msgspec
from django.db import connection
from django.db.models.functions import Now
from django.utils import timezone

from battles.calls import is_limited
from battles.models import Call
from benchmarks.checks.check_set import CheckSet
from benchmarks.checks.verdicts import VerdictReading
from benchmarks.models import Entrant, Run, RunCount, RunItem
from benchmarks.models.entrant_calls import calls_at_once
from benchmarks.sql import read_sql
from benchmarks.worker import pace
from benchmarks.worker.fairness import max_min_shares
from benchmarks.worker.store import RunFacts
from models_registry.models import LanguageModel, Provider

# A person's call that waits for longer stops a background call to a free model.
PREEMPT_AFTER = timedelta(seconds=0.5)


@dataclass(frozen=True)
class Plan:
    """State of a run, the entrants that can be asked now, and the run's share of each provider."""

    state: str
    # Run.paced_from, read before the entrants.
    paced_from: datetime | None
    entrants: Mapping[int, Entrant]
    # Calls at once by provider id: of all runs, and of this one.
    paces: dict[int, int]
    shares: Mapping[int, int]
    # Providers with a limit and with free models: only there a call is stopped for a person's.
    preemptible: frozenset[int]
    # Ids of entrants.
    left_out: frozenset[int] = frozenset()
    # Why nothing is asked any more of any unfinished entrant, or "".
    pause_reason: str = ""
    # Whether unfinished entrants are inactive and all others halted.
    waits_for_inactive: bool = False

    def wanted(self, running: Mapping[int, int]) -> dict[int, int]:
        """Return how many more items to claim by provider id. running: this run's calls by provider id."""
        return {pk: more for pk, share in self.shares.items() if (more := share - running.get(pk, 0)) > 0}


def read_facts(run_id: int) -> RunFacts:
    run = Run.objects.select_related("version", "checks_version").get(pk=run_id)
    checks = VerdictReading(run) if run.is_judging else CheckSet(run.scoring_version)
    return RunFacts(run.pk, run.owner_id, run.team_id, run.attempts, checks)


def read_plan(run_id: int) -> Plan:
    run, now = Run.objects.only("state", "paced_from").get(pk=run_id), timezone.now()
    entrants = Entrant.objects.filter(run=run_id, model__isnull=False)
    known = list(entrants.select_related("model__provider").prefetch_related("model__prices", "counts"))
    askable = {entrant.pk: entrant for entrant in known if entrant.is_active and calls_at_once(entrant, now) > 0}
    models = {entrant.model for entrant in askable.values() if entrant.model is not None}
    providers = {model.provider_id: model.provider for model in models}
    paces = pace.read_paces(providers)
    demands = _demands(providers)
    shares = {
        pk: max_min_shares(min(paces[pk], pace.room_at(provider)), demands[pk]).get(run_id, 0)
        for pk, provider in providers.items()
    }
    unfinished = [
        entrant for entrant in known if any(count.n and count.state in RunItem.TO_ASK for count in entrant.counts.all())
    ]
    halted = [entrant.halted for entrant in unfinished if entrant.halted]
    inactive = [entrant for entrant in unfinished if not entrant.halted and not entrant.is_active]
    return Plan(
        run.state,
        run.paced_from,
        askable,
        paces,
        shares,
        frozenset(model.provider_id for model in models if not model.is_paid and is_limited(model)),
        frozenset(entrant.pk for entrant in known if entrant.left_out_at is not None),
        pause_reason=halted[0] if halted and len(halted) == len(unfinished) else "",
        waits_for_inactive=bool(inactive) and len(halted) + len(inactive) == len(unfinished),
    )


def _demands(providers: Mapping[int, Provider]) -> dict[int, dict[int, int]]:
    """Return by provider id the calls that each running run could make there now."""
    now, demands = timezone.now(), defaultdict[int, dict[int, int]](dict)
    entrants = Entrant.objects.filter(
        run__state=Run.State.RUNNING, model__provider__in=list(providers), model__status=LanguageModel.Status.ACTIVE
    )
    askable = [entrant for entrant in entrants.select_related("run", "model") if calls_at_once(entrant, now) > 0]
    answering = dict(
        RunCount.objects.filter(entrant__in=askable, state=RunItem.State.ANSWERING).values_list("entrant", "n")
    )
    free = {
        entrant.pk: max(0, min(calls_at_once(entrant, now), entrant.run.concurrency) - answering.get(entrant.pk, 0))
        for entrant in askable
    }
    due = _due_items(free)
    for entrant in askable:
        if entrant.model is not None and (calls := answering.get(entrant.pk, 0) + due.get(entrant.pk, 0)):
            runs = demands[entrant.model.provider_id]
            runs[entrant.run_id] = min(runs.get(entrant.run_id, 0) + calls, entrant.run.concurrency)
    return demands


def _due_items(limits: Mapping[int, int]) -> dict[int, int]:
    """Return numbers of due items by entrant id, counted up to `limits`."""
    wanted = msgspec.json.encode([{"entrant_id": pk, "maximum": n} for pk, n in limits.items()]).decode()
    with connection.cursor() as cursor:
        cursor.execute(read_sql("due_items.sql"), {"entrants": wanted})
        return dict(cursor.fetchall())


def providers_with_waiting_people(providers: frozenset[int]) -> set[int]:
    """Return ids of providers where a person's call has waited for PREEMPT_AFTER."""
    waiting = Call.objects.holding_or_waiting().filter(
        state=Call.State.WAITING, model__provider__in=providers, started_at__lt=Now() - PREEMPT_AFTER
    )
    return set(waiting.values_list("model__provider", flat=True))
