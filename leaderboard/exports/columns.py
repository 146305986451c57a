"""An export's rows as the flat columns of CSV and Parquet: a style count is a column, `style_left_tokens`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from leaderboard.export_rows import STYLE_COUNTS, VoteRow
from leaderboard.exports.conversations import VoteWithPrompts
from leaderboard.exports.stars import StarRow

_FACTS = tuple(field for field in VoteRow.__struct_fields__ if field != "style")
SIDES = ("left", "right")
STYLE = tuple(f"style_{side}_{count}" for side in SIDES for count in STYLE_COUNTS)
COLUMNS = (*_FACTS, *STYLE)


@dataclass(frozen=True)
class Table:
    """What a file's columns are called, and a row's cells in their order."""

    columns: tuple[str, ...]
    flat: Callable[[Any], tuple[object, ...]]


def flat(row: VoteRow) -> tuple[object, ...]:
    """The row's cells in the order of COLUMNS; None where the style is not known."""
    facts = tuple([getattr(row, name) for name in _FACTS])
    if row.style is None:
        return (*facts, *[None] * len(STYLE))
    return (*facts, *msgspec.structs.astuple(row.style.left), *msgspec.structs.astuple(row.style.right))


def flat_with_prompts(row: VoteWithPrompts) -> tuple[object, ...]:
    """The same, then the consent and the turns, these as JSON."""
    turns = None if row.turns is None else msgspec.json.encode(row.turns).decode()
    return (*flat(row), row.consent, turns)


def nested(cells: Mapping[str, object]) -> dict[str, object]:
    """The mirror of `flat`, as the JSON object of a row: its cells may still be text."""
    row = {name: cells[name] for name in _FACTS if name in cells}
    sides = {side: {count: cells.get(f"style_{side}_{count}") for count in STYLE_COUNTS} for side in SIDES}
    known = all(count is not None for counts in sides.values() for count in counts.values())
    return {**row, "style": sides if known else None}


VOTES = Table(COLUMNS, flat)
VOTES_WITH_PROMPTS = Table((*COLUMNS, "consent", "turns"), flat_with_prompts)
STARS = Table(StarRow.__struct_fields__, msgspec.structs.astuple)
