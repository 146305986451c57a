"""A trained router: strengths of the models for one prompt. Knows no scipy, so that web processes need none."""

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from routing.learning.features import CELLS, VERSION, prompt_features
from routing.learning.grounded import Floats

DIALS = tuple(round(number / 20, 2) for number in range(21))

_ARRAYS = ("strengths", "covariance", "features", "feature_variances")


class Scores(NamedTuple):
    """Mean and standard deviation of each model's strength, natural-log units, shape (models,).

    The variance of a difference is the sum of both variances.
    """

    theta: Floats
    sd: Floats


class UnusableSnapshot(ValueError):
    """The bytes are damaged, or of another version of the features."""


@dataclass(frozen=True)
class Router:
    """Parameters of one training.

    strengths: β and δ, shape (rows, 1 + labels), rows = models + 1, the last for models without votes; covariance: of
    each row, (rows, 1 + labels, 1 + labels); features, feature_variances: u, shape (CELLS, rows), or (0, rows) without
    that head. prices: λ of DIALS, chances of winning per US dollar.
    """

    models: tuple[int, ...]
    labels: tuple[str, ...]
    votes: int
    tie_factor: float
    strengths: Floats
    covariance: Floats
    features: NDArray[np.float32]
    feature_variances: NDArray[np.float32]
    prices: tuple[float, ...] = field(default=(0.0,) * len(DIALS))

    @cached_property
    def _rows(self) -> dict[int, int]:
        return {model: number for number, model in enumerate(self.models)}

    def price(self, dial: float) -> float:
        """Return λ, interpolated on a logarithmic scale; 0 at dial 1."""
        return float(np.expm1(np.interp(dial, DIALS, np.log1p(self.prices))))

    def scores(self, models: Sequence[int], labels: Sequence[str], texts: Sequence[str]) -> Scores:
        """Score models for a prompt. texts: all user turns in order."""
        active = [0, *(1 + number for number, name in enumerate(self.labels) if name in labels)]
        theta = self.strengths[:, active].sum(axis=1)
        variance = self.covariance[:, active][:, :, active].sum(axis=(1, 2))
        if len(self.features):
            cells, values = prompt_features(texts)
            theta = theta + values @ self.features[cells]
            variance = variance + values**2 @ self.feature_variances[cells]
        rows = [self._rows.get(model, len(self.models)) for model in models]
        return Scores(theta[rows].astype(np.float64), np.sqrt(np.maximum(variance[rows], 0)).astype(np.float64))

    def to_bytes(self) -> bytes:
        header = {
            "version": VERSION,
            "models": self.models,
            "labels": self.labels,
            "votes": self.votes,
            "tie_factor": self.tie_factor,
            "prices": self.prices,
        }
        stream = io.BytesIO()
        np.savez(
            stream,
            header=np.frombuffer(json.dumps(header).encode(), dtype=np.uint8),
            strengths=self.strengths,
            covariance=self.covariance.astype(np.float32),
            # Half precision is a thousandth of a weight, far below its error.
            features=self.features.astype(np.float16),
            feature_variances=self.feature_variances.astype(np.float16),
        )
        return stream.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> "Router":
        """Raises UnusableSnapshot."""
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as stored:
                header = json.loads(stored["header"].tobytes())
                arrays = {name: stored[name] for name in _ARRAYS}
            if header.pop("version") != VERSION:
                raise UnusableSnapshot("another version of the features")
            router = cls(
                models=tuple(header.pop("models")),
                labels=tuple(header.pop("labels")),
                prices=tuple(header.pop("prices")),
                strengths=arrays["strengths"],
                covariance=arrays["covariance"].astype(np.float64),
                features=arrays["features"].astype(np.float32),
                feature_variances=arrays["feature_variances"].astype(np.float32),
                **header,
            )
        except UnusableSnapshot:
            raise
        except Exception as error:  # zipfile, numpy and json have a dozen errors of their own
            raise UnusableSnapshot("damaged parameters") from error
        router.check_shapes()
        return router

    def check_shapes(self) -> None:
        """Raises UnusableSnapshot."""
        rows, size = len(self.models) + 1, 1 + len(self.labels)
        if (
            self.strengths.shape != (rows, size)
            or self.covariance.shape != (rows, size, size)
            or self.features.shape not in ((0, rows), (CELLS, rows))
            or self.feature_variances.shape != self.features.shape
            or len(self.prices) != len(DIALS)
        ):
            raise UnusableSnapshot("arrays of other shapes")
