"""Preparation of a run: its prompts are rendered, its items inserted. A killed preparation goes on where it was."""

import logging
import random
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from functools import partial
from itertools import islice

import msgspec
from django.db import connection, transaction
from django.db.models import Count, Exists, OuterRef
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from accounts.actor import Actor
from battles.moderation import policy
from battles.moderation.examination import refused_by_rules, store_refusal
from battles.moderation.findings import Finding
from battles.prompting.messages import context_characters
from benchmarks.models import Case, CaseFile, Entrant, Prompt, RenderedPrompt, Run, RunCount, RunItem
from benchmarks.models.entrant_calls import let_go_on
from benchmarks.preparation import case_files, guard
from benchmarks.preparation.frames import CaseProblem, CaseResult, CaseSource, PromptSource, RenderRequest
from benchmarks.preparation.judging_items import write_judging
from benchmarks.preparation.rendered_targets import render_targets
from benchmarks.preparation.sources import source_of
from benchmarks.sql import read_sql

logger = logging.getLogger(__name__)

# A batch of cases or items takes less.
LEASE = timedelta(seconds=60)
CASES_PER_CHILD = 1_000
ITEMS_PER_STATEMENT = 5_000
MAX_PROBLEMS = 1_000


class NotPreparable(Exception):
    def __init__(self, problems: Sequence[CaseProblem]) -> None:
        super().__init__(f"{len(problems)} problems of cases")
        self.problems = list(problems)


def prepare(run_id: int) -> bool:
    """Render the prompts and insert the items; return whether calls may begin. One worker at a time."""
    if not _renew_lease(run_id, is_first=True):
        return False
    run = Run.objects.select_related("version").get(pk=run_id)
    try:
        if run.is_judging:
            judge = run.entrants.select_related("model__provider").get()
            write_judging(run, _context(judge), partial(_renew_lease, run_id))
        else:
            _prepare_cases(run)
    except NotPreparable as error:
        detail = "\n".join(map(str, error.problems[:MAX_PROBLEMS]))
        ended = {"state": Run.State.FAILED, "reason": Run.Reason.NOT_PREPARABLE, "detail": detail, "finished_at": Now()}
        Run.objects.filter(pk=run_id, state=Run.State.PREPARING).update(**ended)
        logger.warning("run %s cannot be prepared: %s", run_id, error)
        return False
    with transaction.atomic():
        run = Run.objects.lock(run_id)
        if run.state != Run.State.PREPARING:
            return False
        run.item_count = RunItem.objects.filter(run=run).count()
        run.state = Run.State.RUNNING if run.starts_at_once else Run.State.QUEUED
        if run.is_judging and not run.item_count:  # all was judged meanwhile
            run.state, run.finished_at = Run.State.DONE, Now()
        run.driven_until = None
        run.save(update_fields=["item_count", "state", "driven_until", "finished_at"])
        if run.state == Run.State.RUNNING:
            let_go_on(run_id)
    return bool(run.state == Run.State.RUNNING)


def _prepare_cases(run: Run) -> None:
    _render_prompts(run)
    _render_targets(run)
    _check_rules(run)
    _insert_items(run)


def _renew_lease(run_id: int, *, is_first: bool = False) -> bool:
    preparing = Run.objects.filter(pk=run_id, state=Run.State.PREPARING)
    if is_first:
        preparing = preparing.without_worker()
    return preparing.update(driven_until=Now() + LEASE) == 1


def _render_prompts(run: Run) -> None:
    """Render for each case the prompts of the run's entrants that are not stored yet."""
    prompts = list(Prompt.objects.filter(pk__in=run.entrants.values("prompt")))
    sources = [
        PromptSource(prompt.pk, prompt.label or f"prompt {prompt.position + 1}", prompt.messages, prompt.turns)
        for prompt in prompts
    ]
    done = RenderedPrompt.objects.filter(case=OuterRef("pk"), prompt__in=prompts).order_by().values("case")
    complete = done.annotate(n=Count("pk")).filter(n=len(prompts))
    cases = Case.objects.filter(~Exists(complete), version=run.version_id).order_by("position")
    problems: list[CaseProblem] = []
    remaining = cases.iterator(chunk_size=CASES_PER_CHILD)
    while cases_of_batch := list(islice(remaining, CASES_PER_CHILD)):
        files = case_files.files_by_case([case.pk for case in cases_of_batch])
        batch = [source_of(case, files.get(case.pk, [])) for case in cases_of_batch]
        while batch:
            results = guard.render(RenderRequest(sources, batch, run.version.variables))
            problems += _add_files(results, batch, files)
            batch = batch[len(results) :]
            rendered = [
                RenderedPrompt(
                    prompt_id=source.prompt, case_id=source.case, messages=source.messages, turns=source.turns,
                    digest=source.digest, characters=source.characters,
                )
                for result in results
                for source in result.rendered
            ]  # fmt: skip
            RenderedPrompt.objects.bulk_create(rendered, ignore_conflicts=True, batch_size=1_000)
            problems += [problem for result in results for problem in result.problems]
            if len(problems) >= MAX_PROBLEMS or any(problem.problem == guard.TOO_DEMANDING for problem in problems):
                raise NotPreparable(problems)
            _renew_lease(run.pk)
    if problems:
        raise NotPreparable(problems)


def _add_files(
    results: Sequence[CaseResult], cases: Sequence[CaseSource], files: Mapping[int, Sequence[CaseFile]]
) -> list[CaseProblem]:
    return [
        CaseProblem(case.key, _("No message of a user takes the files."))
        for case, result in zip(cases, results, strict=False)
        for source in result.rendered
        if not case_files.add_files(source, files.get(case.id, []))
    ]


def _render_targets(run: Run) -> None:
    problems: list[CaseProblem] = []
    for batch_problems in render_targets(run.version):
        problems += batch_problems
        if len(problems) >= MAX_PROBLEMS or any(problem.problem == guard.TOO_DEMANDING for problem in problems):
            break
        _renew_lease(run.pk)
    if problems:
        raise NotPreparable(problems)


def _check_rules(run: Run) -> None:
    """Refuse a run with a prompt that the arena's rules block. Rules may be newer than a stored prompt."""
    if not policy.in_place(run.team_id).matchers:
        return
    stored = RenderedPrompt.objects.filter(case__version=run.version_id, prompt__in=run.entrants.values("prompt"))
    remaining = stored.order_by("case__position", "prompt").values_list("case__key", "messages", "turns")
    findings: dict[str, Finding] = {}
    prompts = remaining.iterator(chunk_size=CASES_PER_CHILD)
    while batch := list(islice(prompts, CASES_PER_CHILD)):
        uploads = case_files.load_uploads([messages for _key, messages, _turns in batch])
        texts = [
            [*(str(message["content"]) for message in messages), *turns, *case_files.texts_of(messages, uploads)]
            for _key, messages, turns in batch
        ]
        refused = zip(batch, refused_by_rules(texts, team_id=run.team_id), strict=True)
        findings |= {key: finding for (key, *_rest), finding in refused if finding is not None}
        _renew_lease(run.pk)
    if findings:
        if run.owner is not None:
            store_refusal(Actor(user=run.owner), {finding.rule.pk: finding for finding in findings.values()}.values())
        sentence = _("This arena does not allow “%(category)s”.")
        raise NotPreparable(
            [
                CaseProblem(key, sentence % {"category": finding.rule.localized_category})
                for key, finding in findings.items()
            ]
        )


def _insert_items(run: Run) -> None:
    entrants = list(run.entrants.select_related("model__provider").filter(model__isnull=False))
    if not entrants:
        return  # answers were imported with the run
    RunCount.objects.bulk_create(
        [RunCount(entrant=entrant, state=state) for entrant in entrants for state in RunItem.State],
        ignore_conflicts=True,
    )
    contexts = msgspec.json.encode([_context(entrant) for entrant in entrants]).decode()
    order = _case_order(run)
    while batch := list(islice(order, max(1, ITEMS_PER_STATEMENT // len(entrants)))):
        with transaction.atomic(), connection.cursor() as cursor:
            Run.objects.lock(run.pk)
            cases = msgspec.json.encode(batch).decode()
            cursor.execute(read_sql("insert_items.sql"), {"run": run.pk, "cases": cases, "contexts": contexts})
        _renew_lease(run.pk)


def _case_order(run: Run) -> Iterator[dict[str, int]]:
    """Yield every case with each repeat, in an order that the run's seed decides."""
    cases = Case.objects.filter(version=run.version_id).order_by("position").values_list("pk", flat=True)
    order = [(case, repeat) for case in cases for repeat in range(run.repeats)]
    random.Random(run.order_seed).shuffle(order)  # noqa: S311 (repeatable on purpose)
    return ({"case_id": case, "repeat": repeat, "place": place} for place, (case, repeat) in enumerate(order))


def _context(entrant: Entrant) -> dict[str, int | None]:
    if entrant.model is None:
        raise TypeError("an imported entrant is not asked")
    fits = context_characters(entrant.model) - len(entrant.model.system_prompt)
    return {"entrant_id": entrant.pk, "characters": None if fits == float("inf") else max(0, int(fits))}
