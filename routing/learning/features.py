"""Hashed n-grams of a prompt."""

import re
import unicodedata
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

# Written down in snapshots: parameters fit the features of one version only.
VERSION = "n-grams 1"
CELLS = 4096
MAX_CHARACTERS = 4000
_PIECE = 4
# Raw characters read: invisible ones and runs of spaces must not push a prompt's words out.
_MAX_RAW = 4 * MAX_CHARACTERS
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_QUOTES = str.maketrans("‘’‚‛“”„‟«»‹›`´", "''''\"\"\"\"\"\"''''")

_BASE = np.uint64(0x9E3779B97F4A7C15)
_PAIR = np.uint64(0xD6E8FEB86659FD93)
_MIX_1, _MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_WORDS, _PAIRS, _PIECES = np.uint64(7919), np.uint64(104729), np.uint64(1299709)
_SHIFT_TO_13_BITS, _BUCKETS = np.uint64(51), 2 * CELLS

Hashes = NDArray[np.uint64]


def _powers(base: int) -> Hashes:
    powers = [1]
    for _ in range(MAX_CHARACTERS + 1):
        powers.append(powers[-1] * base % 2**64)
    return np.array(powers, dtype=np.uint64)


# Odd numbers have inverses modulo 2⁶⁴, so that a word's hash does not depend on its place.
_POWER, _INVERSE_POWER = _powers(int(_BASE)), _powers(pow(int(_BASE), -1, 2**64))
_PIECE_FACTORS = _POWER[:_PIECE]


def prompt_features(texts: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Return the cells, ascending, and values of a prompt's features; Σ value² is 1 unless the prompt is empty.

    texts: all user turns in order. Words, pairs of words and pieces of four characters are hashed with a sign into
    CELLS cells; a value is ± log(1 + |count|).
    Source: Weinberger et al. (2009), "Feature hashing for large scale multitask learning".
    """
    text = normalized_text(reversed(texts))
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    buckets = (np.concatenate(_hashes(codes)) >> _SHIFT_TO_13_BITS).astype(np.int64)
    counts = np.bincount(buckets, minlength=_BUCKETS)
    signed = counts[:CELLS] - counts[CELLS:]
    cells = np.flatnonzero(signed)
    values = np.log1p(np.abs(signed[cells])) * np.sign(signed[cells])
    length = np.sqrt(values @ values)
    return cells.astype(np.int32), (values / (length or 1)).astype(np.float32)


def normalized_text(texts: Iterable[str]) -> str:
    """Return the first MAX_CHARACTERS in lower case; width, spacing, quotes and invisible characters are unified."""
    raw = "\n".join(text[:_MAX_RAW] for text in texts)[:_MAX_RAW]
    visible = raw if raw.isascii() else unicodedata.normalize("NFKC", _INVISIBLE.sub("", raw)).translate(_QUOTES)
    return " ".join(visible.replace("`", "'").lower().split())[:MAX_CHARACTERS]


def _hashes(codes: NDArray[np.uint32]) -> tuple[Hashes, Hashes, Hashes]:
    """Return mixed hashes of words, pairs of words and pieces."""
    if not len(codes):
        empty = np.empty(0, dtype=np.uint64)
        return empty, empty, empty
    letters = _mixed(codes.astype(np.uint64))
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(letters * _POWER[: len(codes)])])
    is_word = np.strings.isalnum(codes.view("U1"))
    edges = np.flatnonzero(np.diff(np.concatenate([[False], is_word, [False]]).astype(np.int8)))
    begin, end = edges[::2], edges[1::2]
    words = (sums[end] - sums[begin]) * _INVERSE_POWER[begin]
    pairs = words[:-1] * _PAIR + words[1:]
    whole = max(len(codes) - _PIECE + 1, 0)
    pieces = np.zeros(whole, dtype=np.uint64)
    for place in range(_PIECE):
        pieces += letters[place : place + whole] * _PIECE_FACTORS[place]
    return _mixed(words ^ _WORDS), _mixed(pairs ^ _PAIRS), _mixed(pieces ^ _PIECES)


def _mixed(values: Hashes) -> Hashes:
    """Return splitmix64 of each. Source: Steele, Lea and Flood (2014)."""
    values = values + _BASE
    values = (values ^ (values >> np.uint64(30))) * _MIX_1
    values = (values ^ (values >> np.uint64(27))) * _MIX_2
    return values ^ (values >> np.uint64(31))
