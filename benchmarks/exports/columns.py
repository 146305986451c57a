from collections.abc import Mapping, Sequence
from functools import partial

import msgspec

from benchmarks.statistics.rows import CheckResult, ItemRow
from common.tables.table import Kind, Table

PLAIN = tuple(name for name in ItemRow.__struct_fields__ if name not in ("checks", "judge_scores", "grades"))
JSON = ("other_checks", "judge_scores", "grades")
RESULT = CheckResult.__struct_fields__
# Number of checks that have columns; those of cases with checks of their own are in `other_checks` beyond it.
MAX_CHECKS = 100


_KINDS: dict[str, Kind] = {
    **dict.fromkeys(("case_weight", "relevant_difference", "score", "cost", "lost_cost"), "float64"),
    **dict.fromkeys(("repeat", "prompt_tokens", "completion_tokens", "reasoning_tokens", "lost_calls"), "int64"),
    **dict.fromkeys(("first_token_ms", "total_ms", "attempts"), "int64"),
    **dict.fromkeys(("is_baseline", "passed", "reused"), "bool"),
    "tags": "texts",
    "started_at": "time",
}
_RESULT_KINDS: dict[str, Kind] = {"value": "float64", "passed": "bool", "weight": "float64"}


def item_table(check_keys: Sequence[str]) -> Table:
    """Return a table of PLAIN, five columns for each check, such as `check.capital.value`, and JSON."""
    keys = check_keys[:MAX_CHECKS]
    columns = (*PLAIN, *(f"check.{key}.{name}" for key in keys for name in RESULT), *JSON)
    kinds = _KINDS | {f"check.{key}.{name}": kind for key in keys for name, kind in _RESULT_KINDS.items()}
    return Table(columns, kinds, partial(_cells, keys))


def _cells(keys: Sequence[str], row: ItemRow) -> tuple[object, ...]:
    results: list[object] = []
    for key in keys:
        result = row.checks.get(key)
        results += [getattr(result, name) for name in RESULT] if result else [None] * len(RESULT)
    others = {key: result for key, result in row.checks.items() if key not in keys}
    rest = (_json(value) if value else None for value in (others, row.judge_scores, row.grades))
    return (*(getattr(row, name) for name in PLAIN), *results, *rest)


def row_of(cells: Mapping[str, object]) -> ItemRow:
    """Return an item of `item_table`. Raises msgspec.ValidationError and KeyError."""
    checks: dict[str, dict[str, object]] = {}
    for column, value in cells.items():
        if column.startswith("check.") and value is not None:
            key, _, name = column.removeprefix("check.").rpartition(".")
            checks.setdefault(key, {})[name] = value
    objects = {name: _object(cells.get(name)) for name in JSON}
    row: dict[str, object] = {name: cells[name] for name in PLAIN}
    row |= {
        "checks": checks | objects["other_checks"],
        "judge_scores": objects["judge_scores"],
        "grades": objects["grades"],
    }
    return msgspec.convert(row, ItemRow)


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _object(text: object) -> dict[str, object]:
    return msgspec.json.decode(text, type=dict[str, object]) if isinstance(text, str) else {}
