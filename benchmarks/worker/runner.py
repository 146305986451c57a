"""Driver of one run in one worker process: it claims, asks, and hands results to the group commit."""

import asyncio
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime

from battles.calls import Attempt
from benchmarks import streaming
from benchmarks.checks.check_set import AnswerScoring
from benchmarks.checks.children import scoring_children
from benchmarks.models import Run
from benchmarks.preparation import case_files
from benchmarks.worker import claims, plan, progress, scoring
from benchmarks.worker.claims import Claim, ClaimedItem
from benchmarks.worker.loop_lag import LoopLag
from benchmarks.worker.store import Ended, RunCommit
from common.db.execution import CONNECTION_ERRORS, run_in_db, run_in_db_with_retry
from models_registry.providers import ChatProvider, FailureCode

logger = logging.getLogger(__name__)

TICK_S = 0.1
# Interval of queries for due items while no call is under way.
IDLE_TICK_S = 0.5
# Interval of queries for answers to score.
SCORING_TICK_S = 0.25
SCORING_RETRY_S = 5.0
PLAN_TTL_S = 1.0
RENEWAL_INTERVAL_S = 2.5
# A run pauses if for so long nothing is asked because a model is inactive.
MAX_STANDSTILL_S = 1800.0
# Drivers of this process by run; a task that arrives twice finds the first.
_drivers: dict[int, "RunDriver"] = {}


async def drive(run_id: int, provider: ChatProvider, serves_people: Callable[[], bool]) -> None:
    """Drive a run until it has no more work for this process."""
    if run_id in _drivers:
        _drivers[run_id].is_called_again = True
        return
    try:
        while True:
            driver = _drivers[run_id] = RunDriver(run_id, provider, serves_people)
            await driver.run()
            if not driver.is_called_again:
                return
    finally:
        del _drivers[run_id]
        streaming.publish_no_more(run_id)
        if not _drivers:
            scoring_children().close()  # their memory, and at a worker's end the processes


class RunDriver:
    def __init__(self, run_id: int, provider: ChatProvider, serves_people: Callable[[], bool]) -> None:
        self._run_id, self._provider, self._serves_people = run_id, provider, serves_people
        self._running: dict[int, tuple[ClaimedItem, asyncio.Task[None]]] = {}
        self._preempted: set[int] = set()
        self._looked_for_people_at = 0.0
        self._stopping = threading.Event()
        self._lag = LoopLag()
        self._wake = asyncio.Event()
        # Reason, and Run.paced_from in the plan that has it.
        self._pause: tuple[str, datetime | None] | None = None
        self._claiming: asyncio.Task[Claim] | None = None
        # A task for the run arrived after this driver last looked for work.
        self.is_called_again = False

    async def run(self) -> None:
        if not await run_in_db_with_retry(progress.renew_run_lease, self._run_id):
            return
        facts = await run_in_db_with_retry(plan.read_facts, self._run_id)
        self._plan = await run_in_db_with_retry(plan.read_plan, self._run_id)
        self._commit = RunCommit(facts, self._plan.paces, self._wake)
        works = (self._lag.measure(), self._renew(), self._score(facts.checks.copy()))
        services = [asyncio.create_task(work) for work in works]
        try:
            await self._claim_until_done()
            await run_in_db_with_retry(progress.release_run, self._run_id)
            await streaming.publish_rest(self._run_id)
        except asyncio.CancelledError:
            await self._release()
            raise
        finally:
            for service in services:
                service.cancel()

    async def _claim_until_done(self) -> None:
        planned_at = progressed_at = time.monotonic()
        while True:
            if time.monotonic() - planned_at > PLAN_TTL_S or self._commit.has_changed_entrants:
                self._commit.has_changed_entrants = False
                self._plan, planned_at = await run_in_db_with_retry(plan.read_plan, self._run_id), time.monotonic()
                self._commit.paces = self._plan.paces
            self._stop_unwanted()
            if self._pause is not None:
                await run_in_db_with_retry(progress.pause, self._run_id, *self._pause)
                self._pause, planned_at = None, 0.0
            self._wake.clear()
            goes_on = self._plan.state == Run.State.RUNNING and await self._claim()
            if goes_on or self._running or self._commit.unstored:
                progressed_at = time.monotonic()
            elif await self._finish():
                return
            elif self._plan.pause_reason:
                self._pause = self._plan.pause_reason, self._plan.paced_from
            elif self._plan.waits_for_inactive and time.monotonic() - progressed_at > MAX_STANDSTILL_S:
                self._pause = Run.Reason.MODELS_AWAY, self._plan.paced_from
            await self._preempt_for_people()
            with suppress(TimeoutError):
                async with asyncio.timeout(TICK_S if self._running else IDLE_TICK_S):
                    await self._wake.wait()

    async def _finish(self) -> bool:
        """Move a run without unfinished items on; return whether this process has nothing more to do for it."""
        self.is_called_again = False
        return await run_in_db_with_retry(progress.finish, self._run_id)

    async def _claim(self) -> bool:
        """Claim a batch and start its calls; return whether there was one."""
        if self._running and self._serves_people() and self._lag.is_high:
            return False
        calls = Counter(item.call.row.model.provider_id for item, _ in self._running.values())
        wanted = self._plan.wanted(calls)
        if not wanted or not self._plan.entrants:
            return False
        plan_now = self._plan
        # Shielded: a claim that commits while this process ends is handed back, too.
        self._claiming = asyncio.create_task(
            run_in_db(claims.claim_items, self._run_id, plan_now.entrants, wanted=wanted, paces=plan_now.paces)
        )
        try:
            claim = await asyncio.shield(self._claiming)
        except CONNECTION_ERRORS as error:
            self._claiming = None
            logger.warning("run %s waits for the database (%s)", self._run_id, str(error).strip())
            return False
        self._claiming = None
        for item in claim.items:
            self._running[item.item_id] = (item, asyncio.create_task(self._answer(item)))
        if claim.pause_reason:
            self._pause = claim.pause_reason, plan_now.paced_from
        if claim.reused:
            streaming.publish_soon(self._run_id, list(claim.reused))
        if (claim.items or claim.reused) and not claim.is_short:
            self._wake.set()
        return bool(claim.items or claim.reused)

    async def _answer(self, item: ClaimedItem) -> None:
        attempt = Attempt(item.call, self._provider)
        result = attempt.result
        try:
            if item.pictures:  # after the claim, whose locks must not last while they are read
                await run_in_db(case_files.fill_pictures, item.call.request.messages, item.pictures)
            await attempt.run()
        except asyncio.CancelledError:
            if self._stopping.is_set():
                raise
            result.stopped = True
        except Exception:
            logger.exception("item %s failed", item.item_id)
            result.error = result.error or FailureCode.INTERRUPTED
        is_preempted = result.stopped and item.item_id in self._preempted
        self._preempted.discard(item.item_id)
        if self._running.pop(item.item_id, None) is not None:
            self._commit.put(Ended(item, result, is_preempted))

    def _stop_unwanted(self) -> None:
        """Stop the calls of a cancelled run, and of entrants that are left out."""
        for item, task in self._running.values():
            if self._plan.state == Run.State.CANCELLED or item.entrant.pk in self._plan.left_out:
                task.cancel()

    async def _preempt_for_people(self) -> None:
        """Stop the youngest call to a free model wherever a person waits; look once in TICK_S."""
        if time.monotonic() - self._looked_for_people_at < TICK_S:
            return
        self._looked_for_people_at = time.monotonic()
        preemptible = self._plan.preemptible
        youngest: dict[int, tuple[ClaimedItem, asyncio.Task[None]]] = {}
        for item, task in self._running.values():  # in the order of claims
            if item.call.row.model.provider_id in preemptible and not item.call.row.model.is_paid:
                youngest[item.call.row.model.provider_id] = (item, task)
        if not youngest:
            return
        with suppress(*CONNECTION_ERRORS):
            for provider_id in await run_in_db(plan.providers_with_waiting_people, frozenset(youngest)):
                item, task = youngest[provider_id]
                if item.item_id not in self._preempted:
                    self._preempted.add(item.item_id)
                    task.cancel()

    async def _score(self, checks: AnswerScoring) -> None:
        """Score stored answers that were not scored at once."""
        is_prepared = False
        while True:
            scored, pause_s = list[int](), SCORING_TICK_S
            try:
                if not is_prepared:
                    await run_in_db(scoring.prepare_rescoring, self._run_id)
                    is_prepared = True
                scored = await run_in_db(scoring.score_batch, self._run_id, checks, self._stopping)
            except Exception:
                logger.exception("answers of run %s were not scored", self._run_id)
                pause_s = SCORING_RETRY_S
            if scored:
                streaming.publish_soon(self._run_id, scored)
                self._wake.set()
            else:
                await asyncio.sleep(pause_s)

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(RENEWAL_INTERVAL_S)
            try:
                await run_in_db(progress.renew_run_lease, self._run_id)
                running = dict(self._running)
                if not running:
                    continue
                held = await run_in_db(claims.renew_leases, self._run_id, [item for item, _ in running.values()])
            except Exception:
                # While the database is away leases may expire; the fence then refuses the results.
                logger.exception("leases of run %s were not renewed", self._run_id)
                continue
            for pk in running.keys() - held:
                if self._running.pop(pk, None) is not None:
                    logger.info("item %s was taken over", pk)
                    running[pk][1].cancel()

    async def _release(self) -> None:
        """Store ended calls and requeue the others, within seconds."""
        self._stopping.set()
        running, self._running = self._running, {}
        for _, task in running.values():
            task.cancel()
        items = [item for item, _ in running.values()]
        if self._claiming is not None:
            with suppress(*CONNECTION_ERRORS):
                items += (await self._claiming).items
        await self._commit.finish()
        await run_in_db(progress.release_items, self._run_id, items)
