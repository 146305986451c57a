"""Drawing of scores with their intervals, one below the other."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

# Measures of the drawing, which is 640 wide.
ROW_HEIGHT, AXIS_HEIGHT, LEFT, WIDTH = 26, 22, 210, 410


@dataclass(frozen=True)
class Scored:
    label: str
    low: float
    value: float
    high: float


@dataclass(frozen=True)
class ChartRow:
    label: str
    y: int
    x_low: float
    x_value: float
    x_high: float


@dataclass(frozen=True)
class Chart:
    """ticks: places and labels."""

    rows: list[ChartRow]
    ticks: list[tuple[float, str]]

    @property
    def bottom(self) -> int:
        return ROW_HEIGHT * len(self.rows)

    @property
    def height(self) -> int:
        return self.bottom + AXIS_HEIGHT


def draw(scores: Iterable[Scored], ticks: Sequence[tuple[float, str]]) -> Chart:
    """ticks: at least two with their labels; the first and the last one are the ends of the scale."""
    first, last = ticks[0][0], ticks[-1][0]

    def x(value: float) -> float:
        return round(LEFT + WIDTH * min(max((value - first) / (last - first), 0.0), 1.0), 1)

    rows = [
        ChartRow(score.label, ROW_HEIGHT * place + ROW_HEIGHT // 2, x(score.low), x(score.value), x(score.high))
        for place, score in enumerate(scores)
    ]
    return Chart(rows, [(x(value), label) for value, label in ticks])
