"""A run under way, as its page shows it."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal

from django.db.models import Count
from django.utils import timezone
from django.utils.formats import time_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from battles.models import Call
from benchmarks.models import Entrant, ProviderPace, Run, RunItem
from models_registry.health.failure_messages import FAILURE_MESSAGES
from models_registry.models import Breaker, LanguageModel

LAST_FAILURES = 5
# An estimate of the time left needs as many finished items.
MIN_FINISHED = 10


@dataclass
class EntrantProgress:
    entrant: Entrant
    counts: dict[str, int]
    failures: list[tuple[str, int]] = field(default_factory=list)

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def answered(self) -> int:
        return self.counts.get(RunItem.State.SCORED, 0) + self.counts.get(RunItem.State.ANSWERED, 0)

    @property
    def answering(self) -> int:
        return self.counts.get(RunItem.State.ANSWERING, 0)

    @property
    def failed(self) -> int:
        return self.counts.get(RunItem.State.FAILED, 0)

    @property
    def skipped(self) -> int:
        return self.counts.get(RunItem.State.SKIPPED, 0)

    @property
    def waiting(self) -> int:
        return self.counts.get(RunItem.State.QUEUED, 0)

    @property
    def segments(self) -> list[tuple[str, float, float]]:
        """Return class, start and width (per cent) of the bar's parts."""
        start, parts = 0.0, []
        for name, n in (("done", self.answered), ("failed", self.failed + self.skipped), ("answering", self.answering)):
            width = round(100 * n / self.total, 2) if self.total else 0.0
            parts.append((name, round(start, 2), width))
            start += width
        return parts


@dataclass
class RunProgress:
    run: Run
    entrants: list[EntrantProgress]
    waits: list[str] = field(default_factory=list)
    last_failures: list[tuple[RunItem, str]] = field(default_factory=list)

    @property
    def total(self) -> int:
        return sum(one.total for one in self.entrants)

    @property
    def ended_calls(self) -> int:
        return sum(one.answered + one.failed + one.skipped for one in self.entrants)

    @property
    def failed(self) -> int:
        return sum(one.failed for one in self.entrants)

    @property
    def can_retry(self) -> bool:
        is_still = self.run.state in (Run.State.DONE, Run.State.CANCELLED, Run.State.PAUSED)
        return is_still and any(one.failed or one.skipped for one in self.entrants)

    @property
    def has_work(self) -> bool:
        return self.run.state in Run.WITH_WORK

    @property
    def budget_percent(self) -> float:
        if not self.run.budget:
            return 0.0
        return round(float(100 * self.run.spent / self.run.budget), 2)

    @property
    def reserved_percent(self) -> float:
        return round(float(100 * self.run.reserved / self.run.budget), 2) if self.run.budget else 0.0

    @property
    def budget_left(self) -> Decimal | None:
        return None if self.run.budget is None else self.run.budget - self.run.spent - self.run.reserved

    @property
    def minutes_left(self) -> int | None:
        """Return minutes at the pace so far; None if unknown."""
        if self.run.state != Run.State.RUNNING or self.run.started_at is None or self.ended_calls < MIN_FINISHED:
            return None
        elapsed = (timezone.now() - self.run.started_at) / timedelta(minutes=1)
        return max(1, round(elapsed * (self.total - self.ended_calls) / self.ended_calls))


def read_run_progress(run: Run) -> RunProgress:
    """Return a run's progress; eight queries at most."""
    entrants = list(run.entrants.select_related("model__provider", "prompt").prefetch_related("counts"))
    progress = RunProgress(
        run, [EntrantProgress(one, {count.state: count.n for count in one.counts.all()}) for one in entrants]
    )
    if progress.failed:
        _add_failures(progress)
    if run.state == Run.State.RUNNING:
        progress.waits = _reasons_to_wait(progress.entrants)
    return progress


def failure_message(code: str) -> str:
    return str(FAILURE_MESSAGES.get(code, code))


def _add_failures(progress: RunProgress) -> None:
    failed = RunItem.objects.filter(
        entrant__in=[one.entrant.pk for one in progress.entrants], state=RunItem.State.FAILED
    )
    codes: dict[int, Counter[str]] = defaultdict(Counter)
    for entrant_id, code, n in failed.values_list("entrant", "error").order_by().annotate(n=Count("pk")):
        codes[entrant_id][code] = n
    for one in progress.entrants:
        one.failures = [(failure_message(code), n) for code, n in codes[one.entrant.pk].most_common()]
    by_id = {one.entrant.pk: one.entrant for one in progress.entrants}
    latest = failed.select_related("case").order_by("-finished_at")[:LAST_FAILURES]
    for item in latest:
        item.entrant = by_id[item.entrant_id]
    progress.last_failures = [(item, failure_message(item.error)) for item in latest]


def _reasons_to_wait(entrants: Sequence[EntrantProgress]) -> list[str]:
    """Return sentences about models and providers that hold up items."""
    waiting = [one.entrant.model for one in entrants if one.waiting and one.entrant.model is not None]
    return obstacles_of(waiting).sentences(waiting) if waiting else []


@dataclass(frozen=True)
class Obstacles:
    """open_models, open_providers: ids with an open breaker. people: calls under way or waiting, by provider id."""

    open_models: set[int | None]
    open_providers: set[int | None]
    paces: list[ProviderPace]
    people: Counter[int]

    def sentences(self, waiting: Sequence[LanguageModel]) -> list[str]:
        """Return what holds up the items of these models."""
        providers = {model.provider_id: model.provider for model in waiting}
        sentences = [
            _("%(model)s failed several times and is left alone for a while.") % {"model": model}
            for model in waiting
            if model.pk in self.open_models or model.provider_id in self.open_providers
        ]
        for pace in self.paces:
            if pace.provider_id in providers and pace.blocked_until and pace.blocked_until > timezone.now():
                found = {
                    "provider": providers[pace.provider_id],
                    "time": time_format(timezone.localtime(pace.blocked_until)),
                }
                sentences.append(_("%(provider)s has asked to wait until %(time)s.") % found)
        for provider_id, n in self.people.items():
            if provider_id in providers:
                sentence = ngettext(
                    "%(n)d person’s call to %(provider)s comes first.",
                    "%(n)d people’s calls to %(provider)s come first.", n,
                )  # fmt: skip
                sentences.append(sentence % {"n": n, "provider": providers[provider_id]})
        return sentences


def obstacles_of(models: Sequence[LanguageModel]) -> Obstacles:
    providers = {model.provider_id for model in models}
    opened = list(Breaker.objects.open().values_list("model_id", "provider_id"))
    people = Call.objects.unfinished().exclude(purpose__in=Call.BACKGROUND).filter(model__provider__in=providers)
    return Obstacles(
        {pk for pk, _ in opened}, {pk for _, pk in opened}, list(ProviderPace.objects.filter(pk__in=providers)),
        Counter(people.values_list("model__provider", flat=True)),
    )  # fmt: skip
