"""Log-spaced histograms: sparse lists of pairs bucket, count, which add up over days."""

import math
from collections import Counter

# Bucket b has the values from RATIO**b to RATIO**(b + 1), so that their geometric mean is at most 6 % away from each.
RATIO = 1.12


def bucket_of(value: float) -> int:
    """Return the bucket of a positive value; rollup/sql does the same."""
    return math.floor(math.log(value) / math.log(RATIO))


def quantile_bucket(counts: Counter[int], fraction: float) -> int | None:
    """Return the bucket with the smallest value that `fraction` of all values do not exceed; None without values."""
    rank = max(1, math.ceil(fraction * counts.total()))
    for bucket in sorted(counts):
        rank -= counts[bucket]
        if rank <= 0:
            return bucket
    return None


def middle(bucket: int) -> float:
    """Return the geometric mean of a bucket's bounds."""
    return float(RATIO ** (bucket + 0.5))
