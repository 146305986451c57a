import numpy as np

from leaderboard.rating.bradley_terry import Floats, Indices

COVARIATES = ("met_before", "files", "reasoning", "first_token")
# Known values of a vote, in the order of `context_covariates`; UNKNOWN for those cast before they were stored.
CONTEXT = ("files", "met", "reasoning", "first_token_left", "first_token_right")
UNKNOWN = (-1, 0, 0, -1, -1)
# Smaller differences of waits are hardly felt.
NOTICEABLE_MS = 1000


def context_covariates(
    files: Indices, met: Indices, reasoning: Indices, left_ms: Indices, right_ms: Indices
) -> Floats | None:
    """Return the covariates, shape (votes, 4), 0 where unknown; None if no vote's context is known.

    files: −1 if the context is unknown; met, reasoning: left minus right; left_ms, right_ms: −1 if unknown.
    """
    if not (files >= 0).any():
        return None
    is_timed = (left_ms >= 0) & (right_ms >= 0)
    wait = np.log2((NOTICEABLE_MS + left_ms) / (NOTICEABLE_MS + right_ms), where=is_timed, out=np.zeros(len(files)))
    return np.stack([met, files > 0, reasoning, wait], axis=1).astype(np.float64, copy=False)
