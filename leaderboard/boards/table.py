"""Rows of boards, as dicts, because templates look up dict keys first."""

from collections.abc import Sequence
from itertools import chain, groupby
from operator import itemgetter
from typing import NamedTuple, TypedDict

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from leaderboard.boards import cells
from leaderboard.boards.columns import COLUMNS, Column
from leaderboard.payload_types import ModelOnBoardPayload, ResultPayload

WIDTH = 110.0  # width of the drawn scale, in SVG units
MARGIN = 10.0  # beyond the outermost bounds, in points
# Slug in a model page's URL that each row replaces, because 300 calls of reverse() take milliseconds.
_PLACEHOLDER = "a"


class Row(TypedDict):
    model: str
    is_preliminary: bool
    cells: SafeString


class Table(NamedTuple):
    """Models of one comparable group."""

    group: int
    columns: list[Column]
    rows: list[Row]


class StandingRow(TypedDict):
    """A model's line on one of several boards."""

    line: ModelOnBoardPayload
    is_preliminary: bool
    rank: str
    range: str
    score: str
    interval: str
    votes: str
    win_rate: str


def tables(results: Sequence[ResultPayload], *, link: bool = True, query: str = "") -> list[Table]:
    """Return one table per comparable group, all on one scale and with the same columns.

    link: link to models' pages, which imported contestants do not have. query: at the end of these links.
    """
    scale = _Scale(results)
    before, after = reverse("leaderboard:model", args=[_PLACEHOLDER]).rsplit(_PLACEHOLDER, 1)
    lines = [
        scale.line(result, url=f"{before}{result['model']['id']}{after}{query}" if link else "")
        for result in sorted(results, key=itemgetter("group"))
    ]
    columns = [column for column in COLUMNS if not column.is_optional or _has_values(column, lines)]
    cells_format = "".join(map(_cell_format, columns))
    return [
        Table(group, columns, [_row(columns, cells_format, line) for line in members])
        for group, members in groupby(lines, key=lambda line: line.result["group"])
    ]


def standing_rows(standings: Sequence[ModelOnBoardPayload]) -> list[StandingRow]:
    return [
        {
            "line": line,
            "is_preliminary": line["preliminary"],
            "rank": cells.rank_text(line),
            "range": cells.rank_range(line),
            "score": cells.score_text(line),
            "interval": cells.interval_text(line),
            "votes": cells.format_integer(line["votes"]),
            "win_rate": cells.format_percent(line["win_rate"]),
        }
        for line in sorted(standings, key=itemgetter("group"))
    ]


def _has_values(column: Column, lines: Sequence[cells.Line]) -> bool:
    return any(column.cell(line) not in ("", cells.UNKNOWN) for line in lines)


def _row(columns: Sequence[Column], cells_format: str, line: cells.Line) -> Row:
    return {
        "model": line.result["model"]["id"],
        "is_preliminary": line.result["preliminary"],
        "cells": format_html(cells_format, *(column.cell(line) for column in columns)),
    }


def _cell_format(column: Column) -> str:
    if column.kind == "name":
        return f'<th scope="row">{column.markup}</th>'
    class_name = "" if column.kind == "text" else f' class="{column.kind}"'
    live = f' data-live="{column.live}"' if column.live else ""
    return f"<td{class_name}{live}>{column.markup}</td>"


class _Scale:
    """Scale from points to SVG units; an unbounded interval reaches the end."""

    def __init__(self, results: Sequence[ResultPayload]) -> None:
        bounds = chain.from_iterable((line["ci_low"], line["ci_high"], line["score"]) for line in results)
        ends = [bound for bound in bounds if bound is not None]
        self.low = min(ends, default=0.0) - MARGIN
        self.unit = WIDTH / (max(ends, default=0.0) + MARGIN - self.low)

    def at(self, points: float) -> float:
        return (points - self.low) * self.unit

    def line(self, result: ResultPayload, *, url: str) -> cells.Line:
        score = result["score"]
        if score is None:
            return cells.Line(result, url, whisker="", point="")
        return cells.Line(result, url, self.whisker(result), f"M{self.at(score):.1f} 1V11")

    def whisker(self, line: ResultPayload) -> str:
        left = 0.0 if line["ci_low"] is None else self.at(line["ci_low"])
        right = WIDTH if line["ci_high"] is None else self.at(line["ci_high"])
        return f"M{left:.1f} 6H{right:.1f}"
