"""Numbers of names in long lists, where the same string objects usually occur many times."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from leaderboard.rating.bradley_terry import Indices

_BLOCK = 1 << 13  # rows at a time: their arrays fit into the processor's cache
_SLOT_BITS = 16
_SHIFT, _MULTIPLIER = np.uint64(64 - _SLOT_BITS), np.uint64(0x9E3779B97F4A7C15)  # Knuth's multiplicative hashing
# Share of a block's rows: with more strings of their own, hashing addresses takes longer than looking up names.
_MAX_NEW = 0.25


class NameNumbers:
    """Numbers of names from 0: first `known` ones, then others by first use in about this order."""

    def __init__(self, known: Sequence[str] = ()) -> None:
        self._numbers: defaultdict[str, int] = defaultdict()
        self._numbers.default_factory = self._numbers.__len__
        self._numbers.update(zip(known, range(len(known)), strict=True))

    def in_order(self) -> list[str]:
        return list(self._numbers)

    def of(self, names: Sequence[str]) -> Indices:
        """Return the number of each name, shape (names,)."""
        # Looking up each name takes twice as long as hashing the addresses of the string objects in numpy.
        objects, size, numbers = _KnownObjects(self._numbers), len(names), np.empty(len(names), dtype=np.int64)
        remaining = iter(names)
        for begin in range(0, size, _BLOCK):
            block = np.fromiter(remaining, dtype=object, count=min(_BLOCK, size - begin))
            if not objects.number(block, out=numbers[begin : begin + len(block)]):
                rest = map(self._numbers.__getitem__, chain(block.tolist(), remaining))
                numbers[begin:] = np.fromiter(rest, np.int64, size - begin)
                break
        return numbers


class _KnownObjects:
    """Hash table from addresses of string objects to numbers; a slot has the object that was added last."""

    def __init__(self, numbers: defaultdict[str, int]) -> None:
        self._numbers = numbers
        self._kept: list[str] = []  # while an object exists, no other one has its address
        self._addresses, self._number_at = np.zeros(1 << _SLOT_BITS, np.uint64), np.zeros(1 << _SLOT_BITS, np.int64)
        self._slots = np.empty(_BLOCK, dtype=np.uint64)

    def number(self, names: NDArray[np.object_], *, out: Indices) -> bool:
        """Number a block of names; return whether it has few unknown objects, without which `out` is not valid."""
        addresses = np.frombuffer(names, dtype=np.uint64)
        slots = np.multiply(addresses, _MULTIPLIER, out=self._slots[: len(names)])
        slots >>= _SHIFT
        places = slots.view(np.int64)
        # The mode "wrap" takes the shortest time.
        is_known = self._addresses.take(places, mode="wrap") == addresses
        self._number_at.take(places, out=out, mode="wrap")
        if is_known.all():
            return True
        unknown = np.flatnonzero(~is_known)
        _, first, object_of_row = np.unique(addresses[unknown], return_index=True, return_inverse=True)
        if len(first) > max(1, _MAX_NEW * len(names)):
            return False
        new = names[unknown[first]].tolist()
        numbers = np.array([self._numbers[name] for name in new])
        out[unknown] = numbers[object_of_row]
        self._kept += new
        self._addresses[places[unknown[first]]] = addresses[unknown[first]]
        self._number_at[places[unknown[first]]] = numbers
        return True
