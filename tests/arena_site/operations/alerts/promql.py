"""The part of Prometheus' query language that the alert rules and dashboards use: parsed, and evaluated over scrapes.

Source: https://prometheus.io/docs/prometheus/latest/querying/. Rates are not extrapolated to the ends of their range.
"""

import operator
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

Labels: TypeAlias = frozenset[tuple[str, str]]
Vector: TypeAlias = dict[Labels, float]


class Sample(NamedTuple):
    name: str
    labels: dict[str, str]
    value: float


class Scrape(NamedTuple):
    at: float
    samples: list[Sample]


@dataclass(frozen=True)
class Number:
    value: float


@dataclass(frozen=True)
class Selector:
    """matchers: label, operator, value. range_s: 0 of an instant."""

    name: str
    matchers: tuple[tuple[str, str, str], ...] = ()
    range_s: float = 0


@dataclass(frozen=True)
class Call:
    name: str
    arguments: tuple["Expression", ...]
    by: tuple[str, ...] = ()


@dataclass(frozen=True)
class Operation:
    sign: str
    left: "Expression"
    right: "Expression"


Expression: TypeAlias = Number | Selector | Call | Operation

_TOKEN = re.compile(
    r"""\s*(?:(?P<number>\d+(?:\.\d+)?(?:e\d+)?(?![a-z]))|(?P<name>[a-zA-Z_]\w*)|(?P<text>"(?:[^"\\]|\\.)*")"""
    r"""|(?P<range>\[\d+[smhd]\])|(?P<sign>=~|!~|!=|==|>=|<=|[-+*/<>=(){},]))"""
)
_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_LEVELS = (("or",), ("and", "unless"), ("==", "!=", ">", "<", ">=", "<="), ("+", "-"), ("*", "/"))
_SIGNS: dict[str, Callable[[float, float], float]] = {
    "==": operator.eq, "!=": operator.ne, ">": operator.gt, "<": operator.lt, ">=": operator.ge, "<=": operator.le,
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
}  # fmt: skip
_AGGREGATIONS: dict[str, Callable[[list[float]], float]] = {"sum": sum, "max": max, "min": min, "count": len}
_FUNCTIONS = ("rate", "increase", "time", "histogram_quantile")


def parse(text: str) -> Expression:
    """Raises ValueError."""
    return _Parser(text).whole()


def parts(expression: Expression) -> Iterator[Selector | Call]:
    """Yield all selectors, functions and aggregations."""
    if isinstance(expression, Operation):
        yield from parts(expression.left)
        yield from parts(expression.right)
    elif isinstance(expression, Call):
        yield expression
        for argument in expression.arguments:
            yield from parts(argument)
    elif isinstance(expression, Selector):
        yield expression


def evaluate(expression: Expression, scrapes: list[Scrape], at: float) -> Vector | float:
    """Return the value at a time, over the scrapes until then."""
    known = [scrape for scrape in scrapes if scrape.at <= at]
    if isinstance(expression, Number):
        return expression.value
    if isinstance(expression, Selector):
        return _matching(expression, known[-1]) if known else {}
    if isinstance(expression, Call):
        return _called(expression, known, at)
    return _combined(expression.sign, *(evaluate(side, known, at) for side in (expression.left, expression.right)))


def _matching(selector: Selector, scrape: Scrape) -> Vector:
    found = (sample for sample in scrape.samples if sample.name == selector.name)
    return {frozenset(sample.labels.items()): sample.value for sample in found if fits(selector, sample.labels)}


def fits(selector: Selector, labels: dict[str, str]) -> bool:
    return all(_fits(labels.get(label, ""), sign, value) for label, sign, value in selector.matchers)


def _fits(given: str, sign: str, value: str) -> bool:
    is_equal = bool(re.fullmatch(value, given)) if sign.endswith("~") else given == value
    return is_equal != sign.startswith("!")


def _called(call: Call, scrapes: list[Scrape], at: float) -> Vector | float:
    if call.name == "time":
        return at
    (argument,) = call.arguments
    if call.name in ("rate", "increase"):
        assert isinstance(argument, Selector)
        grown = _growth(argument, [scrape for scrape in scrapes if scrape.at > at - argument.range_s])
        return {labels: n / (argument.range_s if call.name == "rate" else 1) for labels, n in grown.items()}
    groups: dict[Labels, list[float]] = defaultdict(list)
    vector = evaluate(argument, scrapes, at)
    assert isinstance(vector, dict)
    for labels, value in vector.items():
        groups[frozenset((name, of) for name, of in labels if name in call.by)].append(value)
    return {labels: _AGGREGATIONS[call.name](values) for labels, values in groups.items()}


def _growth(selector: Selector, scrapes: list[Scrape]) -> Vector:
    growth: Vector = {}
    last: Vector = {}
    for scrape in scrapes:
        for labels, value in _matching(selector, scrape).items():
            if labels in last:  # a counter that became smaller began anew
                growth[labels] = growth.get(labels, 0) + (value - last[labels] if value >= last[labels] else value)
            last[labels] = value
    return growth


def _combined(sign: str, left: Vector | float, right: Vector | float) -> Vector | float:
    if sign in ("and", "or", "unless"):
        assert isinstance(left, dict)
        assert isinstance(right, dict)
        if sign == "or":
            return {**right, **left}
        return {labels: value for labels, value in left.items() if (labels in right) == (sign == "and")}
    if not isinstance(left, dict) and not isinstance(right, dict):
        return _SIGNS[sign](left, right)
    pairs = _pairs(left, right)
    if sign in _LEVELS[2]:  # a comparison keeps the vector's value
        kept = {labels: pair for labels, pair in pairs.items() if _SIGNS[sign](*pair)}
        return {labels: first if isinstance(left, dict) else second for labels, (first, second) in kept.items()}
    return {labels: _SIGNS[sign](*pair) for labels, pair in pairs.items()}


def _pairs(left: Vector | float, right: Vector | float) -> dict[Labels, tuple[float, float]]:
    if not isinstance(right, dict):
        assert isinstance(left, dict)
        return {labels: (value, right) for labels, value in left.items()}
    if not isinstance(left, dict):
        return {labels: (left, value) for labels, value in right.items()}
    return {labels: (value, right[labels]) for labels, value in left.items() if labels in right}


class _Parser:
    def __init__(self, text: str) -> None:
        self.tokens: list[tuple[str, str]] = []
        place = 0
        while place < len(text.rstrip()):
            match = _TOKEN.match(text, place)
            if match is None:
                raise ValueError(f"cannot be read: {text[place:]}")
            self.tokens.append((match.lastgroup or "", match.group(match.lastgroup or "")))
            place = match.end()

    def whole(self) -> Expression:
        expression = self.level(0)
        if self.tokens:
            raise ValueError(f"cannot be read from here on: {self.tokens}")
        return expression

    def level(self, number: int) -> Expression:
        if number == len(_LEVELS):
            return self.operand()
        left = self.level(number + 1)
        while self.tokens and self.tokens[0][1] in _LEVELS[number]:
            left = Operation(self.take(), left, self.level(number + 1))
        return left

    def operand(self) -> Expression:
        if not self.tokens:
            raise ValueError("an operand is missing")
        kind, text = self.tokens.pop(0)
        if kind == "number":
            return Number(float(text))
        if text == "(":
            inner = self.level(0)
            self.take(")")
            return inner
        if kind != "name":
            raise ValueError(f"an operand was expected, not {text}")
        if text in _AGGREGATIONS:
            by = self.grouping()
            arguments = self.arguments()
            return Call(text, arguments, by or self.grouping())
        return Call(text, self.arguments()) if text in _FUNCTIONS else self.selector(text)

    def selector(self, name: str) -> Selector:
        matchers = []
        if self.next_is("{"):
            self.take("{")
            while not self.next_is("}"):
                label, sign, value = self.take(), self.take(), self.take()
                matchers.append((label, sign, value.strip('"')))
                if self.next_is(","):
                    self.take(",")
            self.take("}")
        range_s = 0.0
        if self.tokens and self.tokens[0][0] == "range":
            size = self.take()[1:-1]
            range_s = int(size[:-1]) * _SECONDS[size[-1]]
        return Selector(name, tuple(matchers), range_s)

    def grouping(self) -> tuple[str, ...]:
        if not self.next_is("by"):
            return ()
        self.take("by")
        self.take("(")
        labels = []
        while not self.next_is(")"):
            labels.append(self.take())
            if self.next_is(","):
                self.take(",")
        self.take(")")
        return tuple(labels)

    def arguments(self) -> tuple[Expression, ...]:
        self.take("(")
        found = []
        while not self.next_is(")"):
            found.append(self.level(0))
            if self.next_is(","):
                self.take(",")
        self.take(")")
        return tuple(found)

    def next_is(self, text: str) -> bool:
        return bool(self.tokens) and self.tokens[0][1] == text

    def take(self, wanted: str = "") -> str:
        if not self.tokens or (wanted and self.tokens[0][1] != wanted):
            raise ValueError(f"{wanted or 'more'} was expected before {self.tokens[:1]}")
        return self.tokens.pop(0)[1]
