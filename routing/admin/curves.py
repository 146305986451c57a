from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypedDict

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

WIDTH, HEIGHT = 400, 200
_MARGIN = 0.05

Point = tuple[float, float]


class _Line(TypedDict):
    policy: str
    win_share: float | None
    cost: float


class _Replayed(TypedDict):
    lines: list[_Line]
    curve: list[Point]
    hull: list[Point]


class Mark(NamedTuple):
    x: str
    y: str
    name: str


@dataclass(frozen=True)
class Curve:
    """line, other: points of polylines; other is the hull, or random choices."""

    title: str | Promise
    line: str
    other: str
    marks: Sequence[Mark] = ()
    width: int = WIDTH
    height: int = HEIGHT


def curve_of_gap(points: Sequence[Point]) -> Curve:
    scale = _Scale([*points, (0, 0), (1, 1)])
    return Curve(
        _("Part of the gap recovered, over the share of calls to the strong model"),
        scale.polyline(points),
        scale.polyline([(0, 0), (1, 1)]),
    )


def curve_of_costs(result: _Replayed) -> Curve | None:
    lines = [(line["policy"], line["cost"], line["win_share"]) for line in result.get("lines", [])]
    known = [(policy, cost, share) for policy, cost, share in lines if share is not None]
    if not known:
        return None
    scale = _Scale([(cost, share) for _policy, cost, share in known])
    return Curve(
        _("Share of wins over dollars a prompt: dials of auto mode, and the hull of all policies"),
        scale.polyline(sorted(result["curve"])),
        scale.polyline(result["hull"]),
        [Mark(*scale.place(cost, share), f"{policy}: {share:.3f}, ${cost:.6f}") for policy, cost, share in known],
    )


class _Scale:
    def __init__(self, points: Sequence[Point]) -> None:
        costs, shares = zip(*points, strict=True)
        self._left, self._bottom = min(costs), min(shares)
        self._width = (max(costs) - self._left) or 1
        self._height = (max(shares) - self._bottom) or 1

    def place(self, x: float, y: float) -> tuple[str, str]:
        across = _MARGIN + (1 - 2 * _MARGIN) * (x - self._left) / self._width
        up = _MARGIN + (1 - 2 * _MARGIN) * (y - self._bottom) / self._height
        return f"{across * WIDTH:.1f}", f"{(1 - up) * HEIGHT:.1f}"

    def polyline(self, points: Sequence[Point]) -> str:
        return " ".join(",".join(self.place(*point)) for point in points)
