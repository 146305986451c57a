from collections.abc import Mapping, Sequence

import msgspec

from benchmarks.statistics.rows import CheckResult, ItemRow

PLAIN = tuple(name for name in ItemRow.__struct_fields__ if name not in ("checks", "judge_scores", "grades"))
JSON = ("other_checks", "judge_scores", "grades")
RESULT = CheckResult.__struct_fields__
# Of a run whose cases have checks of their own, more are in `other_checks`.
MAX_CHECKS = 100


class ItemColumns:
    """Columns of items: PLAIN, five for each check, such as `check.capital.value`, and JSON."""

    def __init__(self, check_keys: Sequence[str]) -> None:
        self._keys = check_keys[:MAX_CHECKS]
        results = (f"check.{key}.{name}" for key in self._keys for name in RESULT)
        self.names = (*PLAIN, *results, *JSON)

    def cells(self, row: ItemRow) -> tuple[object, ...]:
        """Return values in the order of `names`."""
        results: list[object] = []
        for key in self._keys:
            result = row.checks.get(key)
            results += [getattr(result, name) for name in RESULT] if result else [None] * len(RESULT)
        others = {key: result for key, result in row.checks.items() if key not in self._keys}
        rest = (_json(value) if value else None for value in (others, row.judge_scores, row.grades))
        return (*(getattr(row, name) for name in PLAIN), *results, *rest)


def row_of(cells: Mapping[str, object]) -> ItemRow:
    """Invert `cells`. Raises msgspec.ValidationError and KeyError."""
    checks: dict[str, dict[str, object]] = {}
    for column, value in cells.items():
        if column.startswith("check.") and value is not None:
            key, _, name = column.removeprefix("check.").rpartition(".")
            checks.setdefault(key, {})[name] = value
    found = {name: _object(cells.get(name)) for name in JSON}
    row: dict[str, object] = {name: cells[name] for name in PLAIN}
    row |= {"checks": checks | found["other_checks"], "judge_scores": found["judge_scores"], "grades": found["grades"]}
    return msgspec.convert(row, ItemRow)


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _object(text: object) -> dict[str, object]:
    return msgspec.json.decode(text, type=dict[str, object]) if isinstance(text, str) else {}
