import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from leaderboard.rating.bradley_terry import Floats, Indices
from leaderboard.rating.pairs import row_blocks

_Draws = NDArray[np.float32]
_BATCH_CELLS = 1_000_000
_MAX_MODELS_AT_ONCE = 1000


def critical_distance(truths: Floats | _Draws, errors: Floats | _Draws, scale: Floats, *, level: float) -> float:
    """Return the distance, in standard errors, beyond which one model counts as above another.

    truths, errors: draws, shape (models, draws); scale: standard errors of the differences, shape (models, models).
    With it all ranges hold in `level` of the draws; it is at least the quantile of a single difference.
    """
    # A range is wrong only where more models count as above (or below) a model than truly are: a wrong difference is
    # harmless while a right one is missing. For a model with a models above it, the a + 1-th largest distance decides.
    distances = _largest_deciding_distances(
        truths.T.astype(np.float32, copy=False), errors.T.astype(np.float32, copy=False), scale, level
    )
    return max(float(np.quantile(distances, level)), float(ndtri(level)))


def _largest_deciding_distances(truths: _Draws, errors: _Draws, scale: Floats, level: float) -> Floats:
    """Shape (draws,); exact from the quantile `level` upwards."""
    # Let Y be the k-th highest estimate and X the estimate of the k-th best model: this model's deciding distance is
    # from |Y − X| / its largest to |Y − X| / its smallest standard error. Only models that can move the quantile are
    # computed exactly, those with large upper bounds first.
    draws, models = truths.shape
    estimates = np.add(truths, errors)
    smallest, largest = _extreme_errors(scale)
    order, gap = np.empty(truths.shape, dtype=np.int32), np.empty_like(estimates)
    distances = np.empty(draws)
    blocks = list(row_blocks(draws, models))
    for rows in blocks:
        ordered = _descending_order(truths[rows])
        descending = np.flip(np.sort(estimates[rows], axis=1), axis=1)
        order[rows], gap[rows] = ordered, descending - np.take_along_axis(estimates[rows], ordered, axis=1)
        distances[rows] = (np.abs(gap[rows]) / largest[ordered]).max(axis=1)
    bound, candidates = np.quantile(distances, level), []
    for rows in blocks:
        upper = np.abs(gap[rows]) / smallest[order[rows]]
        draw, place = np.nonzero(upper > bound)
        candidates.append((rows.start + draw, place, upper[draw, place]))
    draw, place, upper = (np.concatenate(columns) for columns in zip(*candidates, strict=True))
    widest_first = np.argsort(-upper, kind="stable")
    draw, place, upper = draw[widest_first], place[widest_first], upper[widest_first]
    inverse = _inverse_errors(scale, np.arange(models)) if models <= _MAX_MODELS_AT_ONCE else None
    batch = max(1, _BATCH_CELLS // models)
    for begin in range(0, len(draw), batch):
        d, k = draw[begin : begin + batch], place[begin : begin + batch]
        is_needed = upper[begin : begin + batch] > np.maximum(distances[d], np.quantile(distances, level))
        d, k = d[is_needed], k[is_needed]
        if len(d):
            model = order[d, k].astype(np.int64)
            precision = _inverse_errors(scale, model) if inverse is None else inverse[model]
            np.maximum.at(distances, d, _deciding_distances(estimates[d], model, k, gap[d, k] > 0, precision))
    return distances


def _extreme_errors(scale: Floats) -> tuple[_Draws, _Draws]:
    """Return each model's smallest and largest error of a difference; a difference without error has ∞."""
    smallest, largest = np.empty((2, len(scale)), dtype=np.float32)
    for rows in row_blocks(*scale.shape):
        model = np.arange(len(scale))[rows]
        error = np.where(scale[rows] > 0, scale[rows], np.inf)
        own = np.arange(len(model)), model
        error[own] = np.inf
        smallest[model] = error.min(axis=1)
        error[own] = 0
        largest[model] = error.max(axis=1)
    return smallest, largest


def _inverse_errors(scale: Floats, model: Indices) -> _Draws:
    """Return 1 / error of the differences of each `model` from all, shape (rows, models)."""
    error = scale[model]
    error[error <= 0] = np.inf
    return np.reciprocal(error, out=error).astype(np.float32)


def _descending_order(values: _Draws) -> Indices:
    """Return argsort(−values), stable, in a quarter of its time."""
    # Sorts integers: a float's bits, as an integer with the same order, and below them the position.
    bits = (-values).view(np.int32)
    bits = np.where(bits < 0, bits ^ np.int32(0x7FFFFFFF), bits)
    keys = bits.astype(np.int64) << 32
    keys |= np.arange(values.shape[1])
    keys.sort(axis=1)
    keys &= 0xFFFFFFFF
    return keys


def _deciding_distances(
    estimates: _Draws, model: Indices, place: Indices, is_upwards: NDArray[np.bool_], precision: _Draws
) -> _Draws:
    """Return the deciding distance of a model with `place` better ones, shape (rows,).

    precision: 1 / errors of the differences, shape (rows, models).
    """
    rows = np.arange(len(model))
    distances = (estimates - estimates[rows, model][:, None]) * precision
    # Sorted first or last, the model itself gives both directions the same index.
    distances[rows, model] = np.where(is_upwards, -np.inf, np.inf)
    distances.sort(axis=1)
    deciding: _Draws = np.abs(distances[rows, distances.shape[1] - 1 - place])
    return deciding
