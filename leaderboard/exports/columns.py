from collections.abc import Mapping
from itertools import chain

import msgspec

from common.tables.table import Kind, Table
from leaderboard.export_rows import STYLE_COUNTS, SideContext, VoteRow
from leaderboard.exports.conversations import VoteWithPrompts
from leaderboard.exports.stars import StarRow

# Later than those of style and context, so that earlier columns keep their places.
_LATER = ("origin",)
_FIELDS = tuple(field for field in VoteRow.__struct_fields__ if field not in ("style", "context", *_LATER))
SIDES = ("left", "right")
STYLE = tuple(f"style_{side}_{count}" for side in SIDES for count in STYLE_COUNTS)
_SIDE_CONTEXT = SideContext.__struct_fields__
CONTEXT = ("context_files", *(f"context_{side}_{name}" for side in SIDES for name in _SIDE_CONTEXT))
COLUMNS = (*_FIELDS, *STYLE, *CONTEXT, *_LATER)
KINDS: dict[str, Kind] = {
    "order": "int64",
    "created_at": "time",
    "excluded_at": "time",
    "categories": "texts",
    "turn_count": "int32",
    "n": "int64",
    **dict.fromkeys(STYLE, "int32"),
    **{name: "bool" if name.endswith(("_met", "_reasoning")) else "int32" for name in CONTEXT},
}


def _cells(row: VoteRow) -> tuple[object, ...]:
    """Return cells in the order of COLUMNS; None for unknown style or context."""
    style: tuple[object, ...] = (None,) * len(STYLE)
    if row.style is not None:
        style = (*msgspec.structs.astuple(row.style.left), *msgspec.structs.astuple(row.style.right))
    context: tuple[object, ...] = (None,) * len(CONTEXT)
    if row.context is not None:
        sides = (msgspec.structs.astuple(side) for side in (row.context.left, row.context.right))
        context = (row.context.files, *chain.from_iterable(sides))
    fields, later = ([getattr(row, name) for name in names] for names in (_FIELDS, _LATER))
    return (*fields, *style, *context, *later)


def _cells_with_prompts(row: VoteWithPrompts) -> tuple[object, ...]:
    """Return the row's cells, the consent, and the turns as JSON."""
    turns = None if row.turns is None else msgspec.json.encode(row.turns).decode()
    return (*_cells(row), row.consent, turns)


def nested(cells: Mapping[str, object]) -> dict[str, object]:
    """Return a row of `VOTES`, from cells or their texts."""
    row = {name: cells[name] for name in (*_FIELDS, *_LATER) if name in cells}
    sides = {side: {count: cells.get(f"style_{side}_{count}") for count in STYLE_COUNTS} for side in SIDES}
    has_style = all(count is not None for counts in sides.values() for count in counts.values())
    context = {
        "files": cells.get("context_files"),
        **{side: {name: cells.get(f"context_{side}_{name}") for name in _SIDE_CONTEXT} for side in SIDES},
    }
    has_context = context["files"] is not None
    return {**row, "style": sides if has_style else None, "context": context if has_context else None}


VOTES = Table(COLUMNS, KINDS, _cells)
VOTES_WITH_PROMPTS = Table((*COLUMNS, "consent", "turns"), KINDS, _cells_with_prompts)
STARS = Table(StarRow.__struct_fields__, {**KINDS, "stars": "int32", "latest": "bool"}, msgspec.structs.astuple)
