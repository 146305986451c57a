"""Items of a run as rows of its report and exports."""

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple, cast

import msgspec
from django.db import connection

from benchmarks.models import Case, Entrant, Run
from benchmarks.sql import read_sql
from benchmarks.statistics.headers import CaseHeader, ErrorsCount
from benchmarks.statistics.rows import CheckResult, ItemRow, ItemState

BATCH = 2_000


class _Read(NamedTuple):
    """A row of read_items.sql."""

    item_id: int
    case_id: int
    repeat: int
    state: str
    error: str
    score: float | None
    passed: bool | None
    attempts: int
    prompt_tokens: int | None
    completion_tokens: int | None
    reasoning_tokens: int | None
    cost: float | None
    first_token_ms: int | None
    total_ms: int | None
    price_id: int | None
    finish: str | None
    text: str | None
    started_at: datetime | None
    lost_cost: float | None
    lost_calls: int
    is_reused: bool
    checks: str | None
    grades: str | None


_decode_checks = msgspec.json.Decoder(dict[str, CheckResult]).decode
_decode_grades = msgspec.json.Decoder(dict[str, float]).decode


def item_rows(run: Run, *, with_texts: bool = False) -> Iterator[ItemRow]:
    """Yield the items entrant by entrant; holds no connection between batches. with_texts: with replies."""
    cases = read_cases(run)
    for entrant_id, shared in shared_rows(run).items():
        for row in _read(entrant_id, with_texts=with_texts):
            yield _item_row(shared, row, cases[row.case_id])


def shared_rows(run: Run) -> dict[int, ItemRow]:
    """Return all that the rows of an entrant share, by its id, in order."""
    checks = run.scoring_version
    return {
        entrant.pk: ItemRow(
            run=run.public_id, template=run.version.template.name, version_digest=checks.digest, case_key="",
            case_digest="", entrant=entrant_key(entrant), model=_model_name(entrant),
            model_version=str(entrant.model.version) if entrant.model else "", prompt_label=entrant.prompt.label,
            is_baseline=entrant.is_baseline, errors_count=cast(ErrorsCount, checks.errors_count),
            relevant_difference=checks.relevant_difference, repeat=0, state="queued",
        )
        for entrant in run.entrants.select_related("model__team", "prompt").order_by("position")
    }  # fmt: skip


def read_cases(run: Run) -> dict[int, CaseHeader]:
    cases = Case.objects.filter(version=run.version_id).values_list("pk", "key", "digest", "weight", "cluster", "tags")
    return {
        pk: CaseHeader(key=key, digest=digest, weight=weight, cluster=cluster, tags=tuple(tags))
        for pk, key, digest, weight, cluster, tags in cases
    }


def entrant_key(entrant: Entrant) -> str:
    return f"{entrant.position:03}"


def _model_name(entrant: Entrant) -> str:
    model = entrant.model
    if model is None or model.team is None:
        return entrant.imported if model is None else model.name
    return f"{model.name} ({model.full_slug})"  # a model of the site may have the name, too


def _read(entrant_id: int, *, with_texts: bool) -> Iterator[_Read]:
    case_id, repeat = 0, 0
    while True:
        place = {"entrant": entrant_id, "case": case_id, "repeat": repeat, "maximum": BATCH, "texts": with_texts}
        with connection.cursor() as cursor:
            cursor.execute(read_sql("read_items.sql"), place)
            rows = [_Read(*row) for row in cursor.fetchall()]
        yield from rows
        if len(rows) < BATCH:
            return
        case_id, repeat = rows[-1].case_id, rows[-1].repeat


def _item_row(shared: ItemRow, row: _Read, case: CaseHeader) -> ItemRow:
    return ItemRow(
        run=shared.run, template=shared.template, version_digest=shared.version_digest, case_key=case.key,
        case_digest=case.digest, case_weight=case.weight, cluster=case.cluster, tags=case.tags,
        entrant=shared.entrant, model=shared.model, model_version=shared.model_version,
        prompt_label=shared.prompt_label, is_baseline=shared.is_baseline, errors_count=shared.errors_count,
        relevant_difference=shared.relevant_difference, repeat=row.repeat, state=cast(ItemState, row.state),
        error=row.error, score=row.score, passed=row.passed, checks=_decode_checks(row.checks) if row.checks else {},
        prompt_tokens=row.prompt_tokens, completion_tokens=row.completion_tokens,
        reasoning_tokens=row.reasoning_tokens, cost=row.cost, price_id=str(row.price_id or ""),
        lost_cost=row.lost_cost or 0.0, lost_calls=row.lost_calls, first_token_ms=row.first_token_ms,
        total_ms=row.total_ms, finish=row.finish or "", attempts=row.attempts, reply_text=row.text or "",
        started_at=row.started_at, reused=row.is_reused,
        grades=_decode_grades(row.grades) if row.grades else {},
    )  # fmt: skip
