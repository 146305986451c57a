"""A run under way, as its page shows it."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from math import ceil

from django.db.models import Count
from django.utils import timezone
from django.utils.formats import time_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from benchmarks.models import Entrant, Run, RunItem
from models_registry.health.failure_messages import FAILURE_MESSAGES

LAST_FAILURES = 5
# An estimate of the time left needs as many finished items.
MIN_FINISHED = 10
# A run that has just begun does not wait yet.
SOON = timedelta(seconds=5)


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
    def left_out(self) -> int:
        return self.counts.get(RunItem.State.LEFT_OUT, 0)

    @property
    def unfinished(self) -> int:
        return self.waiting + self.answering

    @property
    def ended(self) -> int:
        """Number of items since the run began or went on."""
        return max(0, self.total - self.unfinished - self.entrant.ended_before)

    @property
    def moves(self) -> bool:
        """Return whether the entrant has a pace."""
        entrant = self.entrant
        return self.ended > 0 and entrant.is_active and not (entrant.failures or entrant.halted or self.wait)

    @property
    def can_be_left_out(self) -> bool:
        return self.unfinished > 0 and self.entrant.left_out_at is None and self.entrant.model is not None

    @property
    def wait(self) -> str:
        """Return why nothing is asked, or ""."""
        entrant = self.entrant
        if entrant.left_out_at is not None or entrant.model is None:
            return ""
        if not entrant.is_active:
            return _("%(name)s is not active.") % {"name": entrant}
        details = {"entrant": entrant, "n": entrant.failures, "failure": failure_message(entrant.failure)}
        if entrant.halted:
            return _failed(entrant.failures) % details + " " + _("Nothing more is asked until the run is resumed.")
        if entrant.next_try_at is None or entrant.next_try_at <= timezone.now():
            return ""
        details["time"] = time_format(timezone.localtime(entrant.next_try_at), "H:i")
        if not entrant.failures:
            return _("%(entrant)s has asked to wait until %(time)s UTC.") % details
        minutes = ceil((entrant.next_try_at - timezone.now()) / timedelta(minutes=1))
        next_try = ngettext(
            "The next try is at %(time)s UTC, in %(minutes)d minute.",
            "The next try is at %(time)s UTC, in %(minutes)d minutes.", minutes,
        )  # fmt: skip
        return f"{_failed(entrant.failures)} {next_try}" % {**details, "minutes": minutes}

    @property
    def segments(self) -> list[tuple[str, float, float]]:
        """Return class, start and width (per cent) of the bar's parts."""
        start, parts = 0.0, []
        for name, n in (
            ("done", self.answered),
            ("failed", self.failed + self.skipped + self.left_out),
            ("answering", self.answering),
        ):
            width = round(100 * n / self.total, 2) if self.total else 0.0
            parts.append((name, round(start, 2), width))
            start += width
        return parts


@dataclass
class RunProgress:
    run: Run
    entrants: list[EntrantProgress]
    last_failures: list[tuple[RunItem, str]] = field(default_factory=list)

    @property
    def waits(self) -> list[str]:
        return reasons_to_wait(self.run, self.entrants)

    @property
    def waiting_entrants(self) -> list[EntrantProgress]:
        return waiting_entrants(self.run, self.entrants)

    @property
    def waits_for_room(self) -> bool:
        return waits_for_room(self.run, self.entrants)

    @property
    def total(self) -> int:
        return sum(entry.total for entry in self.entrants)

    @property
    def ended_calls(self) -> int:
        return sum(entry.total - entry.unfinished for entry in self.entrants)

    @property
    def answered(self) -> int:
        return sum(entry.answered for entry in self.entrants)

    @property
    def failed(self) -> int:
        return sum(entry.failed for entry in self.entrants)

    @property
    def can_retry(self) -> bool:
        is_still = self.run.state in (Run.State.DONE, Run.State.CANCELLED, Run.State.PAUSED)
        still_in = [entry for entry in self.entrants if entry.entrant.left_out_at is None]
        return is_still and any(entry.failed or entry.skipped for entry in still_in)

    @property
    def can_leave_out(self) -> bool:
        return self.run.state in Run.UNDER_WAY and len(self.entrants) > 0

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
        """Return minutes at the pace so far, without entrants that stand still; None if unknown."""
        began, moving = self.run.paced_from or self.run.started_at, [entry for entry in self._unfinished if entry.moves]
        if self.run.state != Run.State.RUNNING or began is None or not moving:
            return None
        if sum(entry.ended for entry in self.entrants) < MIN_FINISHED:
            return None
        elapsed = (timezone.now() - began) / timedelta(minutes=1)
        return max(1, round(elapsed * max(entry.unfinished / entry.ended for entry in moving)))

    @property
    def standing_still(self) -> list[Entrant]:
        return [entry.entrant for entry in self._unfinished if not entry.moves]

    @property
    def _unfinished(self) -> list[EntrantProgress]:
        return [entry for entry in self.entrants if entry.unfinished]


def _failed(n: int) -> str:
    return ngettext(
        "%(n)d of this run’s calls to %(entrant)s failed: %(failure)s",
        "%(n)d of this run’s calls to %(entrant)s failed in a row: %(failure)s", n,
    )  # fmt: skip


def read_run_progress(run: Run) -> RunProgress:
    """Return a run's progress; eight queries at most."""
    entrants = run.entrants.select_related("model__team", "prompt").prefetch_related("counts")
    progress = RunProgress(run, [entrant_progress(entrant) for entrant in entrants])
    if progress.failed:
        _add_failures(progress)
    return progress


def entrant_progress(entrant: Entrant) -> EntrantProgress:
    """entrant: with model and counts."""
    return EntrantProgress(entrant, {count.state: count.n for count in entrant.counts.all()})


def failure_message(code: str) -> str:
    return str(FAILURE_MESSAGES.get(code, code))


def _add_failures(progress: RunProgress) -> None:
    failed = RunItem.objects.filter(
        entrant__in=[entry.entrant.pk for entry in progress.entrants], state=RunItem.State.FAILED
    )
    codes: dict[int, Counter[str]] = defaultdict(Counter)
    for entrant_id, code, n in failed.values_list("entrant", "error").order_by().annotate(n=Count("pk")):
        codes[entrant_id][code] = n
    for entry in progress.entrants:
        entry.failures = [(failure_message(code), n) for code, n in codes[entry.entrant.pk].most_common()]
    by_id = {entry.entrant.pk: entry.entrant for entry in progress.entrants}
    latest = failed.select_related("case").order_by("-finished_at")[:LAST_FAILURES]
    for item in latest:
        item.entrant = by_id[item.entrant_id]
    progress.last_failures = [(item, failure_message(item.error)) for item in latest]


def reasons_to_wait(run: Run, entrants: Sequence[EntrantProgress]) -> list[str]:
    """Return why items wait, from the run's own calls: others would tell who answers in blind battles."""
    sentences = [entry.wait for entry in waiting_entrants(run, entrants)]
    return [*sentences, _("Your run waits for room.")] if waits_for_room(run, entrants) else sentences


def waiting_entrants(run: Run, entrants: Sequence[EntrantProgress]) -> list[EntrantProgress]:
    if run.state not in (Run.State.RUNNING, Run.State.PAUSED):
        return []
    return [entry for entry in entrants if entry.unfinished and entry.wait]


def waits_for_room(run: Run, entrants: Sequence[EntrantProgress]) -> bool:
    if run.state != Run.State.RUNNING or run.started_at is None or timezone.now() - run.started_at <= SOON:
        return False
    has_calls = any(entry.answering for entry in entrants)
    return not has_calls and any(entry.waiting and not entry.wait for entry in entrants)
