"""A chart with its table and files, as metrics/chart.html shows it."""

from dataclasses import dataclass
from typing import NamedTuple

from django.utils.functional import Promise

from metrics.charts import Drawing


class Cell(NamedTuple):
    text: str
    note: str = ""


class Row(NamedTuple):
    at: str
    is_unfinished: bool
    cells: list[Cell]


@dataclass(frozen=True)
class DrawnChart:
    """ticks: y and text. dates: x, text and anchor. rows: the latest bucket first. csv: label and query."""

    id: str
    title: str | Promise
    notes: list[str]
    drawing: Drawing
    names: list[str]
    ticks: list[tuple[float, str]]
    dates: list[tuple[float, str, str]]
    rows: list[Row]
    csv: list[tuple[str | Promise, str]]
    has_values: bool
