"""Settings of the C library's allocator for arrays of some MB."""

import ctypes
from contextlib import suppress
from functools import lru_cache

# Numbers of glibc's malloc.h.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8
# Bytes: the largest that glibc accepts.
MAX_KEPT_ARRAY = 32 << 20
MAX_KEPT = 128 << 20


def release_freed_arrays() -> None:
    """Return kept memory to the system."""
    with suppress(AttributeError, OSError):  # without glibc
        ctypes.CDLL(None).malloc_trim(0)


@lru_cache(maxsize=1)
def keep_freed_arrays() -> None:
    """Let this process keep the memory of freed arrays for the next ones.

    By default, a fit of 300 models fetches 2,800 pages of new arrays from the kernel, a tenth of its CPU time.
    Does nothing without glibc.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):
        return
    mallopt(_M_MMAP_THRESHOLD, MAX_KEPT_ARRAY)
    mallopt(_M_TRIM_THRESHOLD, MAX_KEPT)
    mallopt(_M_ARENA_MAX, 1)  # otherwise new threads keep freed memory of their own, and less of it
