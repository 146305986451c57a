"""Payloads of benchmarks: an allow-list."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Literal, cast

import msgspec
from django.urls import reverse

from accounts.actor import Actor
from benchmarks import access, streaming
from benchmarks.actions.importing import ImportPreview
from benchmarks.checks.check_set import raw_check
from benchmarks.estimates import Estimate
from benchmarks.models import (
    Case,
    CaseFile,
    Entrant,
    Grade,
    Prompt,
    Run,
    RunItem,
    RunReport,
    Template,
    TemplateVersion,
)
from benchmarks.payload_types import (
    CaseFilePayload,
    CasePayload,
    EntrantPayload,
    ErrorsCount,
    EstimatePayload,
    GradePayload,
    HeatAveragePayload,
    HeatCellPayload,
    HeatMapPayload,
    ImportPayload,
    ItemDetailPayload,
    ItemPayload,
    ItemState,
    ItemTurnPayload,
    LeftOutPayload,
    RunPayload,
    RunReportPayload,
    RunState,
    RunSummaryPayload,
    TemplateCheckPayload,
    TemplateKind,
    TemplatePayload,
    TemplatePromptPayload,
    TemplateSummaryPayload,
    TemplateVersionPayload,
    VersionState,
    Visibility,
)
from benchmarks.queries.answers import ItemDetail, TurnReply
from benchmarks.queries.left_out import LeftOut
from benchmarks.queries.listing import ItemCounts
from benchmarks.queries.run_progress import RunProgress
from benchmarks.reports.heat_map import HeatMap
from benchmarks.reports.power import Power
from benchmarks.reports.results import results_of
from benchmarks.reports.store import payload_of
from common.text.money import plain_decimal

ITEM_ID_PREFIX = 22


def template_summary(template: Template, actor: Actor, version: TemplateVersion | None) -> TemplateSummaryPayload:
    team = access.team_of(actor, template)
    summary: TemplateSummaryPayload = {
        "id": template.public_id,
        "name": template.name,
        "description": template.description,
        "kind": cast(TemplateKind, template.kind),
        "visibility": cast(Visibility, template.visibility),
        "held_out": template.held_out,
        "archived": template.archived_at is not None,
        "mine": access.may_edit(actor, template),
        "version": None if version is None else version_payload(version),
        "created_at": template.created_at,
    }
    return summary if team is None else {**summary, "team": team.slug}


def version_payload(version: TemplateVersion) -> TemplateVersionPayload:
    return {
        "number": version.number,
        "state": cast(VersionState, version.state),
        "digest": version.digest,
        "case_count": version.case_count,
        "frozen_at": version.frozen_at,
    }


def template_payload(template: Template, actor: Actor) -> TemplatePayload:
    version = access.visible_versions(actor, template).first()
    is_shown = version is not None and access.shows_contents(actor, template)
    return {
        **template_summary(template, actor, version),
        "variables": version.variables if version is not None and is_shown else {},
        "parameters": {} if version is None else version.parameters,
        "errors_count": cast(ErrorsCount, "missing" if version is None else version.errors_count),
        "threshold": None if version is None else version.threshold,
        "relevant_difference": None if version is None else version.relevant_difference,
        "prompts": [_prompt(prompt) for prompt in version.prompts.all()] if version is not None and is_shown else None,
        "checks": _checks(version) if version is not None and is_shown else None,
    }


def _prompt(prompt: Prompt) -> TemplatePromptPayload:
    return {
        "number": prompt.position + 1,
        "label": prompt.label,
        "messages": [{"role": message["role"], "template": message["template"]} for message in prompt.messages],
        "turns": prompt.turns,
    }


def _checks(version: TemplateVersion) -> list[TemplateCheckPayload]:
    return [cast(TemplateCheckPayload, raw_check(check)) for check in version.checks.all()]


def case_payload(case: Case) -> CasePayload:
    """case: with files."""
    return {
        "key": case.key,
        "variables": case.variables,
        "expected": case.expected,
        "messages": case.messages,
        "checks": case.checks,
        "cluster": case.cluster,
        "tags": case.tags,
        "metadata": case.metadata,
        "weight": case.weight,
        "files": [_case_file(file) for file in case.files.all()],
    }


def _case_file(file: CaseFile) -> CaseFilePayload:
    return {"variable": file.variable, "upload": file.upload.public_id}


def estimate_payload(estimate: Estimate, prompts: Sequence[int], power: Power | None) -> EstimatePayload:
    """prompts: numbers of the entrants' prompts, from 1."""
    return {
        "items": estimate.items,
        "tokens": estimate.tokens,
        "expected_cost": plain_decimal(estimate.expected),
        "max_cost": plain_decimal(estimate.maximum),
        "too_long": [
            {
                "model": entrant.model.full_slug,
                "prompt": prompt,
                "count": entrant.too_long_count,
                "cases": entrant.too_long,
            }
            for entrant, prompt in zip(estimate.entrants, prompts, strict=True)
            if entrant.too_long_count
        ],
        "minutes": estimate.minutes,
        "power": None if power is None else {"cases": power.cases, "difference": power.difference},
    }


def run_summary(run: Run, actor: Actor, progress: ItemCounts) -> RunSummaryPayload:
    owns, team = access.owns(actor, run), access.team_of(actor, run)

    def amount(value: Decimal | None) -> str | None:
        return plain_decimal(value) if owns and value is not None else None

    summary: RunSummaryPayload = {
        "id": run.public_id,
        "name": run.name,
        "template": run.version.template.public_id,
        "template_name": run.version.template.name,
        "version": run.version.number,
        "state": cast(RunState, run.state),
        "reason": run.reason if owns or run.team_id is None else "",
        "repeats": run.repeats,
        "concurrency": run.concurrency,
        "budget": amount(run.budget),
        "spent": amount(run.spent),
        "reserved": amount(run.reserved),
        "entrant_count": run.entrant_count,
        "items": run.item_count,
        "finished": progress.finished,
        "failed": progress.failed,
        "is_published": run.published_at is not None,
        "mine": access.may_change(actor, run),
        "created_at": run.created_at,
        "started_at": run.started_at,
        "finished_at": run.finished_at,
    }
    return summary if team is None else {**summary, "team": team.slug}


def run_payload(progress: RunProgress, actor: Actor) -> RunPayload:
    run, owns = progress.run, access.owns(actor, progress.run)
    counted = ItemCounts()
    for entry in progress.entrants:
        counted.total += entry.total
        for state, n in entry.counts.items():
            counted.by_state[state] = counted.by_state.get(state, 0) + n
    return {
        **run_summary(run, actor, counted),
        "entrants": [_entrant(entry.entrant, entry.counts) for entry in progress.entrants],
        "problems": run.detail.splitlines() if owns else [],
        "waits": progress.waits,
        "minutes_left": progress.minutes_left,
        "stream_url": stream_url(run, actor),
    }


def stream_url(run: Run, actor: Actor) -> str | None:
    """Return the path of a live run's events, without items while a review hides the answers."""
    if run.state in Run.ENDED:
        return None
    token = streaming.token_for(run, actor, with_items=not access.hides_answers(actor, run))
    return reverse("benchmarks:stream", args=[token])


def _entrant(entrant: Entrant, counts: Mapping[str, int]) -> EntrantPayload:
    return {
        "id": entrant.pk,
        "name": str(entrant),
        "model": None if entrant.model is None else entrant.model.full_slug,
        "prompt": entrant.prompt.position + 1,
        "prompt_label": entrant.prompt.label,
        "parameters": entrant.parameters,
        "is_baseline": entrant.is_baseline,
        "counts": {state: n for state, n in sorted(counts.items()) if n},
        "failures": entrant.failures,
        "error": entrant.failure,
        "next_try_at": entrant.next_try_at,
        "is_halted": bool(entrant.halted),
        "left_out_at": entrant.left_out_at,
    }


def left_out_payload(run: Run, left_out: LeftOut) -> LeftOutPayload:
    return {
        "run": run.public_id,
        "entrant": left_out.entrant.pk,
        "name": str(left_out.entrant),
        "answers": left_out.answers,
        "items": left_out.items,
    }


def report_payload(report: RunReport) -> RunReportPayload:
    numbers = payload_of(report)
    return {
        "number": report.number,
        "computed_at": report.computed_at,
        "left_out": [
            left_out_payload(report.run, LeftOut(row.entrant, row.mean.scored, row.mean.planned))
            for row in results_of(report.run, numbers).rows
            if row.is_left_out
        ],
        "report": msgspec.to_builtins(numbers),
    }


def item_payload(item: RunItem, run: Run) -> ItemPayload:
    """item: with case and entrant.model."""
    return {
        "id": f"{run.public_id}-{item.pk}",
        "entrant": item.entrant_id,
        "model": None if item.entrant.model is None else item.entrant.model.full_slug,
        "case": item.case.key,
        "repeat": item.repeat,
        "state": cast(ItemState, item.state),
        "error": item.error,
        "score": item.score,
        "passed": item.passed,
        "attempts": item.attempt,
        "finished_at": item.finished_at,
    }


def item_detail(page: ItemDetail, run: Run) -> ItemDetailPayload:
    return {
        **item_payload(page.item, run),
        "expected": page.case.expected,
        "messages": [{"role": message["role"], "content": message["content"]} for message in page.messages],
        "files": [_case_file(file) for file in page.files],
        "turns": [_turn(reply) for reply in page.replies],
        "scores": [
            {
                "check": score.check_key,
                "source": score.source,
                "value": score.value,
                "passed": score.passed,
                "error": score.error,
                "detail": score.detail,
            }
            for score in page.scores
        ],
        "log": [
            {
                "turn": attempt.turn,
                "state": attempt.call.state,
                "error": attempt.call.error,
                "message": attempt.sentence,
                "started_at": attempt.call.started_at,
            }
            for attempt in page.attempts
        ],
    }


def _turn(reply: TurnReply) -> ItemTurnPayload:
    call = reply.call
    cost = None if call is None or call.cost is None else plain_decimal(call.cost)
    return {
        "question": reply.question,
        "text": reply.text,
        "html": reply.html,
        "reasoning": reply.reasoning,
        "finish": reply.finish_reason,
        "prompt_tokens": None if call is None else call.prompt_tokens,
        "completion_tokens": None if call is None else call.completion_tokens,
        "reasoning_tokens": None if call is None else call.reasoning_tokens,
        "cost": cost,
        "first_token_ms": None if call is None else call.first_token_ms,
        "total_ms": None if call is None else call.total_ms,
    }


def heat_map_payload(heat_map: HeatMap) -> HeatMapPayload:
    ids = [template.public_id for template in heat_map.templates]
    cells: list[HeatCellPayload] = [
        {
            "model": row.model,
            "template": template,
            "run": cell.run,
            "value": cell.mean.mean.value,
            "low": cell.mean.mean.low,
            "high": cell.mean.mean.high,
            "is_complete": cell.mean.is_complete,
        }
        for row in heat_map.rows
        for template, cell in zip(ids, row.cells, strict=True)
        if cell is not None
    ]
    averages: list[HeatAveragePayload] = [
        {"model": row.model, "value": row.average.mean, "low": row.average.low, "high": row.average.high}
        for row in heat_map.rows
        if row.average is not None
    ]
    return {"cells": cells, "averages": averages}


def import_payload(preview: ImportPreview) -> ImportPayload:
    template = preview.imported.template
    return {
        "id": preview.id,
        "format": preview.imported.format,
        "name": template.name if template is not None else "",
        "prompts": len(template.prompts) if template is not None else 0,
        "checks": len(template.checks) if template is not None else 0,
        "cases": len(template.cases) if template is not None else 0,
        "answers": len(preview.imported.replies),
        "files": len(template.files) if template is not None else 0,
        "columns": [{"name": column.name, "role": column.role} for column in preview.imported.columns],
        "report": [
            {
                "action": line["action"],
                "code": line["code"],
                "sentence": line["sentence"],
                "line": line["line"],
                "column": line["column"],
                "file": line["file"],
            }
            for line in preview.lines
        ],
    }


def grade_payload(grade: Grade) -> GradePayload:
    return {
        "kind": cast(Literal["pass", "stars"], grade.kind),
        "value": grade.value,
        "comment": grade.comment,
        "created_at": grade.created_at,
    }
