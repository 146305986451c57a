"""Fit of linear strengths θ = offset + X w to votes, by L-BFGS."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_array

from routing.learning.grounded import Floats, Indices, loss

_MAX_ITERATIONS = 100
# Relative change of the loss at which the fit ends.
_TOLERANCE = 1e-5
# κ = log(η − 1) ~ N(0, _KAPPA_SD²): finite also without ties.
_KAPPA_SD = 2.0


class Sides(NamedTuple):
    """The strengths of both sides, shape (votes,)."""

    left: Floats
    right: Floats


@dataclass(frozen=True)
class Design:
    """Parameters of the votes: `columns` that all models share, then as many of each model's own.

    shared: shape (votes, columns); left, right: (votes, models · columns), number model · columns + column.
    """

    shared: csr_array
    left: csr_array
    right: csr_array

    @classmethod
    def of_models(cls, values: csr_array, left: Indices, right: Indices, models: int) -> "Design":
        """values: of each vote's prompt, shape (votes, columns); left, right: each vote's models."""
        width = values.shape[1]
        shape = (values.shape[0], models * width)
        repeats = np.diff(values.indptr)

        def side(model: Indices) -> csr_array:
            shift = np.repeat((model * width).astype(np.int32), repeats)
            return csr_array((values.data, values.indices + shift, values.indptr), shape=shape)

        return cls(values, side(left), side(right))

    def squared(self) -> "Design":
        """Return squared values, which the three matrices share, as they share the values."""
        values = self.shared.data**2

        def with_squares(matrix: csr_array) -> csr_array:
            return csr_array((values, matrix.indices, matrix.indptr), shape=matrix.shape)

        return Design(with_squares(self.shared), with_squares(self.left), with_squares(self.right))

    @property
    def columns(self) -> int:
        return int(self.shared.shape[1])

    @property
    def size(self) -> int:
        return int(self.columns + self.left.shape[1])

    def strengths(self, weights: NDArray[np.floating]) -> Sides:
        shared, own = np.split(weights.astype(self.shared.dtype), [self.columns])
        same = self.shared @ shared
        return Sides((self.left @ own + same).astype(np.float64), (self.right @ own + same).astype(np.float64))

    def gradient(self, left: Floats, right: Floats) -> Floats:
        dtype = self.shared.dtype
        left, right = left.astype(dtype), right.astype(dtype)
        own = self.left.T @ left + self.right.T @ right
        return np.concatenate([self.shared.T @ (left + right), own]).astype(np.float64)


class Fit(NamedTuple):
    weights: Floats
    kappa: float


def fit(
    design: Design,
    outcome: Indices,
    weight: Floats,
    *,
    precision: Floats | float,
    offset: Sides | None = None,
    kappa: float | None = None,
    start: Floats | None = None,
) -> Fit:
    """Return the posterior mode for w ~ N(0, 1 / precision). Votes of weight 0 make no difference.

    kappa: fixed if given, fitted otherwise. offset: strengths that other heads gave.
    """
    size = design.size
    # L-BFGS sees w / scale: parameters of equal prior need the fewest steps.
    scale = 1 / np.sqrt(np.broadcast_to(np.asarray(precision, dtype=np.float64), size))
    begin = np.zeros(size + 1)
    begin[:size] = 0 if start is None else start / scale
    begin[size] = 0 if kappa is None else kappa

    def objective(parameters: Floats) -> tuple[float, Floats]:
        scaled = parameters[:size]
        sides = design.strengths(scaled * scale)
        if offset is not None:
            sides = Sides(sides.left + offset.left, sides.right + offset.right)
        result = loss(sides.left, sides.right, outcome, weight, float(parameters[size]))
        value = result.value + 0.5 * float(scaled @ scaled)
        gradient = np.empty(size + 1)
        gradient[:size] = design.gradient(result.left, result.right) * scale + scaled
        gradient[size] = 0.0
        if kappa is None:
            value += 0.5 * float(parameters[size] / _KAPPA_SD) ** 2
            gradient[size] = result.kappa + parameters[size] / _KAPPA_SD**2
        return value, gradient

    result = minimize(
        objective,
        begin,
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": _MAX_ITERATIONS, "maxcor": 5, "ftol": _TOLERANCE, "gtol": 1e-4},
    )
    return Fit(result.x[:size] * scale, float(result.x[size]))
