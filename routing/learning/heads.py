"""Heads of the router, learned one after the other; each only decides if it helps on held-out votes.

θ_i(z) = β_i + Σ_{labels c of z} δ_ic + u_i · φ(z). Each parameter is normal around its mean over the models, with
standard deviation BETA_SD, τ_δ or τ_u; the means are parameters too.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csr_array, hstack
from scipy.special import stdtrit

from routing.learning.features import CELLS
from routing.learning.fitting import Design, Sides, fit
from routing.learning.grounded import Floats, Indices, information, log_losses
from routing.learning.router import Router
from routing.learning.voter_weights import voter_weights
from routing.learning.votes import FOLDS, TrainingVotes, empty_matrix

METHOD = "grounded Rao–Kupper 1"
# Natural-log units: of β, of the mean of β, and of the means of δ and u.
BETA_SD, MEAN_BETA_SD, MEAN_SD = 1.0, 3.0, 1.0
# τ that are tried. Of n-grams, larger ones only learn the questions by heart.
LABEL_SCALES, FEATURE_SCALES = (0.2, 0.4, 0.7, 1.0, 1.4), (0.1, 0.2, 0.4)
# The newest votes, which choose the scales.
MAX_TEST_VOTES = 20_000
# A joint covariance of more parameters would take gigabytes.
_MAX_JOINT_PARAMETERS = 3_000
# The spread of β is estimated once there are this many models, and is BETA_SD before.
_MIN_MODELS_FOR_SPREAD, _MIN_SPREAD, _SPREAD_STEPS = 5, 0.1, 3
# Standard deviation that leaves a parameter at 0.
_OFF = 1e-3
_CONFIDENCE = 0.95


class HeadReport(TypedDict):
    """gain: log loss on held-out votes without the head less that with it; lower_bound: of its 95 % interval."""

    name: str
    passed: bool
    gain: float
    lower_bound: float
    scale: float


@dataclass(frozen=True)
class Trained:
    router: Router
    heads: list[HeadReport]


def train(votes: TrainingVotes) -> Trained:
    """Choose the heads by cross-validation on the newest votes, then fit those that passed on all."""
    newest = votes.subset(slice(-MAX_TEST_VOTES, None)) if len(votes) > MAX_TEST_VOTES else votes
    labels, features = choose_scales(newest)
    return Trained(fit_router(votes, label_scale=labels["scale"], feature_scale=features["scale"]), [labels, features])


def choose_scales(votes: TrainingVotes) -> tuple[HeadReport, HeadReport]:
    """Return the reports of labels and n-grams; a head that fails has the scale 0."""
    folds, weight = votes.folds(), voter_weights(votes)
    base = _Base.of(votes)
    without = [base.fit(votes, weight * (folds != number), label_scale=0.0) for number in range(FOLDS)]

    def with_labels(number: int, scale: float) -> Sides:
        return base.fit(votes, weight * (folds != number), label_scale=scale).sides

    labels = _test_head("labels", LABEL_SCALES, votes, weight, without, with_labels)
    if labels["passed"]:
        without = [base.fit(votes, weight * (folds != number), label_scale=labels["scale"]) for number in range(FOLDS)]
    models = len(votes.models)
    design = Design.of_models(votes.features, votes.left, votes.right, models)
    start: dict[int, Floats] = {}

    def with_features(number: int, scale: float) -> Sides:
        sides, kappa = without[number].sides, without[number].kappa
        training = weight * (folds != number)
        fitted = fit(
            design, votes.outcome, training, precision=_precision(models, scale), offset=sides, kappa=kappa,
            start=start.get(number),
        )  # fmt: skip
        start[number] = fitted.weights
        added = design.strengths(fitted.weights)
        return Sides(sides.left + added.left, sides.right + added.right)

    features = _test_head("n-grams", FEATURE_SCALES, votes, weight, without, with_features)
    return labels, features


def _test_head(
    name: str,
    scales: Sequence[float],
    votes: TrainingVotes,
    weight: Floats,
    before: "list[_BaseFit]",
    head: Callable[[int, float], Sides],
) -> HeadReport:
    """Compare held-out log loss before and after the head.

    Each fold's gain is that of the scale which is best on the other folds.
    """
    folds = votes.folds()
    gains = np.zeros((len(scales), len(votes)))
    for number in range(FOLDS):
        held_out, tie_factor = folds == number, 1 + np.exp(before[number].kappa)
        losses = log_losses(*before[number].sides, votes.outcome, tie_factor)
        for row, scale in enumerate(scales):
            after = log_losses(*head(number, scale), votes.outcome, tie_factor)
            gains[row, held_out] = (losses - after)[held_out]
    by_fold = np.array([np.bincount(folds, weights=weight * gain, minlength=FOLDS) for gain in gains])
    others = by_fold.sum(axis=1, keepdims=True) - by_fold
    gain = gains[others.argmax(axis=0)[folds], np.arange(len(votes))]
    mean, lower_bound = clustered_lower_bound(gain, weight, votes.cluster)
    passed = lower_bound > 0
    scale = scales[int(by_fold.sum(axis=1).argmax())] if passed else 0.0
    return HeadReport(name=name, passed=passed, gain=mean, lower_bound=lower_bound, scale=scale)


def clustered_lower_bound(values: Floats, weight: Floats, cluster: Indices) -> tuple[float, float]:
    """Return the weighted mean and its one-sided 95 % bound, with clustered errors and Student's t."""
    mean = float(weight @ values / weight.sum())
    deviations = np.bincount(cluster, weights=weight * (values - mean))
    clusters = int((np.bincount(cluster) > 0).sum())
    if clusters < 2:
        return mean, -1e9
    error = np.sqrt((deviations**2).sum() * clusters / (clusters - 1)) / weight.sum()
    return mean, mean - float(stdtrit(clusters - 1, _CONFIDENCE)) * float(error)


def _precision(models: int, scale: float) -> Floats:
    """Return the precisions of the n-grams' parameters."""
    return np.concatenate([np.full(CELLS, MEAN_SD**-2), np.full(models * CELLS, scale**-2)])


@dataclass(frozen=True)
class _BaseFit:
    """Fit without n-grams. weights: means of β and δ, then each model's deviations, (1 + models, 1 + labels)."""

    weights: Floats
    kappa: float
    sides: Sides


@dataclass(frozen=True)
class _Base:
    design: Design
    models: int
    columns: int
    beta_sd: float = BETA_SD

    @classmethod
    def of(cls, votes: TrainingVotes) -> "_Base":
        ones = csr_array(np.ones((len(votes), 1)))
        values = csr_array(hstack([ones, votes.labels.astype(np.float64)], format="csr"))
        design = Design.of_models(values, votes.left, votes.right, len(votes.models))
        return cls(design, len(votes.models), design.columns)

    def variances(self, label_scale: float) -> Floats:
        """Return the prior variances, shaped as _BaseFit.weights."""
        variances = np.full((1 + self.models, self.columns), (label_scale or _OFF) ** 2, dtype=np.float64)
        variances[0] = MEAN_SD**2 if label_scale else _OFF**2
        variances[:, 0] = self.beta_sd**2
        variances[0, 0] = MEAN_BETA_SD**2
        return variances

    def fit(self, votes: TrainingVotes, weight: Floats, *, label_scale: float) -> _BaseFit:
        fitted = fit(self.design, votes.outcome, weight, precision=1 / self.variances(label_scale).ravel())
        weights = fitted.weights.reshape(1 + self.models, self.columns)
        return _BaseFit(weights, fitted.kappa, self.design.strengths(fitted.weights))

    def covariance(self, fitted: _BaseFit, weight: Floats, *, label_scale: float) -> Floats:
        """Return the covariance of each model's (β, δ), shape (models, 1 + labels, 1 + labels), for comparisons.

        Without errors that all models share: the variance of a difference is the sum of two.
        Source: Firth and de Menezes (2004), "Quasi-variances".
        """
        left, right, both = information(fitted.sides.left, fitted.sides.right, weight, fitted.kappa)
        x, y, size = self.design.left, self.design.right, self.columns
        precision = 1 / self.variances(label_scale)[1:].ravel()
        mixed = x.T @ _scaled(y, both)
        hessian = csr_array(x.T @ _scaled(x, left) + y.T @ _scaled(y, right) + mixed + mixed.T)
        if self.models * size > _MAX_JOINT_PARAMETERS:
            blocks = [
                hessian[begin : begin + size, begin : begin + size].toarray() + np.diag(precision[begin : begin + size])
                for begin in range(0, self.models * size, size)
            ]
            return np.linalg.inv(np.stack(blocks))
        joint = hessian.toarray() + np.diag(precision)
        inverse = cho_solve(cho_factor(joint, overwrite_a=True), np.eye(len(joint)), overwrite_b=True)
        return _without_shared_errors(inverse.reshape(self.models, size, self.models, size))


def _scaled(matrix: csr_array, factors: Floats) -> csr_array:
    return csr_array(matrix.multiply(factors[:, None]))


def _without_shared_errors(covariance: Floats) -> Floats:
    models = len(covariance)
    own = np.einsum("iaib->iab", covariance)
    with_mean = covariance.mean(axis=2)
    centred = own - with_mean - with_mean.transpose(0, 2, 1) + with_mean.mean(axis=0)
    factor = models / (models - 1)
    blocks: Floats = centred * factor
    return blocks


def fit_router(votes: TrainingVotes, *, label_scale: float, feature_scale: float) -> Router:
    """Fit all votes with the given scales; 0 leaves a head out."""
    weight = voter_weights(votes)
    if not label_scale:
        votes = _without_labels(votes)
    base = _Base.of(votes)
    fitted = base.fit(votes, weight, label_scale=label_scale)
    if len(votes.models) >= _MIN_MODELS_FOR_SPREAD:
        for _ in range(_SPREAD_STEPS):  # expectation and maximisation
            errors = base.covariance(fitted, weight, label_scale=label_scale)[:, 0, 0]
            spread = float(np.sqrt(fitted.weights[1:, 0].var() + errors.mean()))
            base = replace(base, beta_sd=max(spread, _MIN_SPREAD))
            fitted = base.fit(votes, weight, label_scale=label_scale)
    unknown = np.diag(base.variances(label_scale)[1])[None]
    covariance = np.concatenate([base.covariance(fitted, weight, label_scale=label_scale), unknown])
    columns = (0, 1 + len(votes.models))
    weights, variances = np.zeros(columns, dtype=np.float32), np.zeros(columns, dtype=np.float32)
    if feature_scale:
        weights, variances = _fit_features(votes, weight, fitted, feature_scale)
    return Router(
        models=votes.models,
        labels=votes.label_names,
        votes=len(votes),
        tie_factor=1 + float(np.exp(fitted.kappa)),
        strengths=_unknown_last(fitted.weights),
        covariance=covariance,
        features=weights,
        feature_variances=variances,
    )


def _unknown_last(weights: Floats) -> Floats:
    """Return each model's parameters, and last the means, for a model without votes."""
    return np.concatenate([weights[1:] + weights[0], weights[:1]])


def _fit_features(
    votes: TrainingVotes, weight: Floats, base: _BaseFit, scale: float
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return u and its variances, from the diagonal of the information, shape (CELLS, models + 1)."""
    models = len(votes.models)
    design = Design.of_models(votes.features, votes.left, votes.right, models)
    precision = _precision(models, scale)
    fitted = fit(design, votes.outcome, weight, precision=precision, offset=base.sides, kappa=base.kappa)
    added = design.strengths(fitted.weights)
    known = information(base.sides.left + added.left, base.sides.right + added.right, weight, base.kappa)
    squares = design.squared()
    variances = (1 / (squares.gradient(known.left, known.right) + precision)).reshape(1 + models, CELLS)
    variances[0] = scale**2
    return (
        np.ascontiguousarray(_unknown_last(fitted.weights.reshape(1 + models, CELLS)).T, dtype=np.float32),
        np.ascontiguousarray(np.roll(variances, -1, axis=0).T, dtype=np.float32),
    )


def _without_labels(votes: TrainingVotes) -> TrainingVotes:
    return replace(votes, label_names=(), labels=empty_matrix(len(votes), 0))
