"""The learned router as decisions use it; its arithmetic is in routing.learning."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol, cast

import numpy as np
from django.utils.module_loading import import_string
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Scores(Protocol):
    @property
    def theta(self) -> Floats: ...
    @property
    def sd(self) -> Floats: ...


class LearnedRouter(Protocol):
    @property
    def tie_factor(self) -> float: ...
    def price(self, dial: float) -> float: ...
    def scores(self, models: Sequence[int], labels: Sequence[str], texts: Sequence[str]) -> Scores: ...


class Option(NamedTuple):
    model: int
    weight: float
    cost: float


class Choice(NamedTuple):
    model: int
    runner_up: int | None
    confidence: float
    win_chance: float
    good_enough: float
    pair: tuple[int, int] | None
    propensity: float
    win_chances: Floats
    good_enoughs: Floats
    utilities: Floats


class Choose(Protocol):
    def __call__(
        self,
        options: Sequence[Option],
        scores: Scores,
        *,
        price: float,
        best: int | None,
        random: np.random.Generator,
        tie_factor: float,
    ) -> Choice: ...


def router_from_bytes(parameters: bytes) -> LearnedRouter:
    """Raises ValueError."""
    return cast(LearnedRouter, import_string("routing.learning.router.Router").from_bytes(parameters))


def choose(
    options: Sequence[Option],
    scores: Scores,
    *,
    price: float,
    best: int | None,
    random: np.random.Generator,
    tie_factor: float,
) -> Choice:
    chosen = cast(Choose, import_string("routing.learning.choosing.choose"))
    return chosen(options, scores, price=price, best=best, random=random, tie_factor=tie_factor)
