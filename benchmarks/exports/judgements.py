"""Judgements of a run as a file."""

from collections.abc import Iterator

import msgspec
from django.http import StreamingHttpResponse

from accounts.actor import Actor
from benchmarks.exports.responses import file_name, file_response
from benchmarks.judges.listing import JudgementRow, iter_rows, judgements_of
from benchmarks.models import Judge, Run
from benchmarks.reports.item_rows import entrant_key
from common.payload_types import JsonObject
from common.tables.table import Kind, Table
from common.tables.writers import CONTENT_TYPES, WRITERS

_KINDS: dict[str, Kind] = {
    **dict.fromkeys(("judge_number", "repeat", "prompt_tokens", "completion_tokens"), "int64"),
    **dict.fromkeys(("outcome", "cost"), "float64"),
    "is_swapped": "bool",
}
_COLUMNS = (
    "run", "judge", "judge_name", "judge_number", "judge_model", "judge_model_version", "prompt_version", "case_key",
    "repeat", "first", "second", "first_name", "second_name", "is_swapped", "own_family", "state", "error", "outcome",
    "label", "criteria", "reason", "prompt_tokens", "completion_tokens", "cost",
)  # fmt: skip
TABLE = Table(_COLUMNS, _KINDS, lambda row: tuple(row.values()))


def judgements_response(run: Run, ending: str, *, actor: Actor, judge: Judge | None = None) -> StreamingHttpResponse:
    """Stream judgements, counted as an export. ending: a key of WRITERS. Raises LimitReached."""
    actor.count("export", fail_open=True)
    chunks = WRITERS[ending](_batches(run, judge), TABLE)
    return file_response(chunks, CONTENT_TYPES[ending], f"judgements {file_name(run, ending)}")


def _batches(run: Run, judge: Judge | None) -> Iterator[list[JsonObject]]:
    for rows in iter_rows(run, judgements_of(run, judge)):
        yield [_cells(run, row) for row in rows]


def _cells(run: Run, row: JudgementRow) -> JsonObject:
    judge = row.judgement.judge
    return {
        "run": run.public_id,
        "judge": judge.public_id,
        "judge_name": judge.name,
        "judge_number": judge.number,
        "judge_model": judge.model.full_slug,
        "judge_model_version": str(judge.model.version),
        "prompt_version": judge.prompt_version,
        "case_key": row.case_key,
        "repeat": row.repeat,
        "first": entrant_key(row.first),
        "second": None if row.second is None else entrant_key(row.second),
        "first_name": str(row.first),
        "second_name": None if row.second is None else str(row.second),
        "is_swapped": row.is_swapped,
        "own_family": row.judgement.own_family,
        "state": row.state,
        "error": row.error,
        "outcome": row.outcome,
        "label": row.label,
        "criteria": msgspec.json.encode(row.criteria).decode() if row.criteria else None,
        "reason": row.reason,
        "prompt_tokens": row.prompt_tokens,
        "completion_tokens": row.completion_tokens,
        "cost": None if row.cost is None else float(row.cost),
    }
