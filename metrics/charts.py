"""Lines of a series as the geometry of an SVG; no Django, no texts."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

Scale = Callable[..., float]

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 720, 220, 64, 16, 24
MAX_TICKS = 4


@dataclass(frozen=True)
class Tick:
    at: float
    value: float


@dataclass(frozen=True)
class Line:
    """path: of solid segments; dashed: of those to unfinished points; dots: values without a neighbour."""

    path: str
    dashed: str
    dots: list[tuple[float, float]]


@dataclass(frozen=True)
class Drawing:
    lines: list[Line]
    band: str
    ticks: list[Tick]
    # x and index of the first, a middle and the last bucket.
    dates: list[tuple[float, int]]
    # x and y of what the unfinished last bucket may come to, None for lines without.
    projected: list[tuple[float, float] | None]
    # x and number.
    marks: list[tuple[float, int]]
    # y of a line across.
    limit: float | None


def draw(
    lines: Sequence[Sequence[float | None]],
    *,
    bands: Sequence[tuple[float, float] | None] = (),
    unfinished: Sequence[int] = (),
    maximum: float | None = None,
    from_zero: bool = True,
    projected: Sequence[float | None] = (),
    marks: Iterable[tuple[int, int]] = (),
    limit: float | None = None,
) -> Drawing:
    """Return the drawing of lines with one value per bucket, None where there is none.

    bands: interval of each bucket, of a single line. unfinished: number of the last buckets that are, by line. maximum:
    top of the axis, which begins at 0 unless from_zero is false. projected: of the last bucket, by line. marks: bucket
    and number. limit: value of a line across.
    """
    values = [value for line in lines for value in line if value is not None]
    highs = [band[1] for band in bands if band is not None]
    values += [value for value in (*projected, limit) if value is not None]
    low = min([0.0, *values] if from_zero or not values else values)
    high = max([low, *values, *highs]) if maximum is None else maximum
    ticks = _ticks(low, high)
    bottom, top = min(low, ticks[0]), max(high, ticks[-1], low + 1e-9)
    count = max((len(line) for line in lines), default=0)

    def x(index: int) -> float:
        return round(LEFT + (WIDTH - LEFT - 8) * (index / (count - 1) if count > 1 else 0.5), 1)

    def y(value: float) -> float:
        return round(TOP + (HEIGHT - TOP - BOTTOM) * (1 - (value - bottom) / (top - bottom)), 1)

    edges = [(x(index), y(band[0]), y(band[1])) for index, band in enumerate(bands) if band is not None]
    outline = [(at, high_at) for at, _low, high_at in edges] + [(at, low_at) for at, low_at, _high in reversed(edges)]
    return Drawing(
        [_line(line, x, y, unfinished=last) for line, last in zip(lines, unfinished or [0] * len(lines), strict=True)],
        " ".join(f"{at},{height}" for at, height in outline) if len(edges) > 1 else "",
        [Tick(y(tick), tick) for tick in ticks],
        [(x(index), index) for index in sorted({0, (count - 1) // 2, count - 1})] if count else [],
        [None if value is None else (x(count - 1), y(value)) for value in projected],
        [(x(index), number) for index, number in marks],
        None if limit is None else y(limit),
    )


def _line(line: Sequence[float | None], x: Scale, y: Scale, *, unfinished: int) -> Line:
    points = [(x(index), y(value), index) for index, value in enumerate(line) if value is not None]
    joined: set[int] = set()
    solid: list[str] = []
    dashed: list[str] = []
    for (x1, y1, i), (x2, y2, j) in pairwise(points):
        if j != i + 1:
            continue
        joined |= {i, j}
        path = dashed if j >= len(line) - unfinished else solid
        path.append(f"M{x1} {y1}L{x2} {y2}")
    return Line("".join(solid), "".join(dashed), [(at, height) for at, height, index in points if index not in joined])


def _ticks(low: float, high: float) -> list[float]:
    """Return round numbers from low to high, at most MAX_TICKS + 1."""
    span = high - low
    if span <= 0:
        return [low]
    raw = span / MAX_TICKS
    power = 10 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= raw * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    return [round(number * step, 10) for number in range(first, math.floor(high / step + 1e-9) + 1)]
