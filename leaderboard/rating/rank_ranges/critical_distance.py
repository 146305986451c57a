import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from leaderboard.rating.bradley_terry import Floats, Indices

_Draws = NDArray[np.float32]
_BATCH_CELLS = 1_000_000


def critical_distance(truths: Floats, errors: Floats, scale: Floats, *, level: float) -> float:
    """Return the distance, in standard errors, beyond which one model counts as above another.

    truths, errors: draws, shape (models, draws); scale: standard errors of the differences, shape (models, models).
    With it all ranges hold in `level` of the draws; it is at least the quantile of a single difference.
    """
    # A range is wrong only where more models count as above (or below) a model than truly are: a wrong difference is
    # harmless while a right one is missing. For a model with a models above it, the a + 1-th largest distance decides.
    found = _largest_deciding_distances(truths.T.astype(np.float32), errors.T.astype(np.float32), scale, level)
    return max(float(np.quantile(found, level)), float(ndtri(level)))


def _largest_deciding_distances(truths: _Draws, errors: _Draws, scale: Floats, level: float) -> Floats:
    """Shape (draws,); exact from the quantile `level` upwards."""
    # With Y the k-th highest estimate and X the estimate of the k-th best model, this model's deciding distance is from
    # |Y − X| / its largest to |Y − X| / its smallest standard error. Only models that can move the quantile are
    # computed exactly, those with large upper bounds first.
    models = truths.shape[1]
    order = _descending_order(truths)
    estimates = truths + errors
    gap = np.flip(np.sort(estimates, axis=1), axis=1) - np.take_along_axis(estimates, order, axis=1)
    error = np.where((scale > 0) & ~np.eye(models, dtype=bool), scale, np.inf)
    smallest = error.min(axis=1).astype(np.float32)
    largest = np.where(np.eye(models, dtype=bool), 0, error).max(axis=1).astype(np.float32)
    size = np.abs(gap)
    found: Floats = (size / largest[order]).max(axis=1).astype(np.float64)
    upper = size / smallest[order]
    draw, place = np.nonzero(upper > np.quantile(found, level))
    widest_first = np.argsort(-upper[draw, place], kind="stable")
    draw, place = draw[widest_first], place[widest_first]
    inverse = (1 / error).astype(np.float32)
    batch = max(1, _BATCH_CELLS // models)
    for begin in range(0, len(draw), batch):
        d, k = draw[begin : begin + batch], place[begin : begin + batch]
        is_needed = upper[d, k] > np.maximum(found[d], np.quantile(found, level))
        d, k = d[is_needed], k[is_needed]
        if len(d):
            np.maximum.at(found, d, _deciding_distances(estimates[d], order[d, k], k, gap[d, k] > 0, inverse))
    return found


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
    estimates: _Draws, model: Indices, place: Indices, is_upwards: NDArray[np.bool_], inverse: _Draws
) -> _Draws:
    """Return the deciding distance of a model with `place` better ones, shape (rows,)."""
    rows = np.arange(len(model))
    distances = (estimates - estimates[rows, model][:, None]) * inverse[model]
    # Sorted first or last, the model itself gives both directions the same index.
    distances[rows, model] = np.where(is_upwards, -np.inf, np.inf)
    distances.sort(axis=1)
    deciding: _Draws = np.abs(distances[rows, distances.shape[1] - 1 - place])
    return deciding
