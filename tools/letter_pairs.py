"""`python -m tools.letter_pairs`: count letter pairs of languages in Django's translations and Babel's names.

Writes common/text/letter_pairs.txt for common.text.letter_costs: a line for each language, with its name, a tab, and
three characters for each pair: a letter, the next one, and its cost in bits ("A" is 0). A space is the edge of a word;
"." as the first letter stands for any.
"""

import gettext
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import allauth
import babel
import django

TARGET = Path(__file__).parents[1] / "common/text/letter_pairs.txt"
LANGUAGES = (
    "fr", "de", "es", "it", "pt_BR", "pt", "nl", "da", "nb", "sv", "fi", "is", "ca", "gl", "pl", "cs", "sk", "sl",
    "hr", "hu", "ro", "sq", "tr", "az", "et", "lv", "lt", "ru", "uk", "be", "bg", "mk", "sr", "el", "he", "ar",
    "fa", "th", "ja", "ko", "zh_Hans", "zh_Hant",
)  # fmt: skip
# Languages whose characters are words or syllables: pairs of them say little.
BY_CHARACTER = ("ja", "ko", "zh_Hans", "zh_Hant")
MAX_BITS = 16
MAX_PAIRS = 450
MAX_CHARACTERS = 900
# Letters that older encodings lack.
OLDER = str.maketrans("șțȘȚ", "şţŞŢ")
_PLACEHOLDER = re.compile(r"%\(\w+\)\w|\{\w*\}|<[^>]*>|https?://\S+")


def _texts(language: str) -> Iterator[str]:
    for package in (django, allauth):
        for path in sorted(Path(package.__file__).parent.rglob(f"locale/{language}/LC_MESSAGES/*.mo")):
            with path.open("rb") as file:
                catalogue = gettext.GNUTranslations(file)
            yield from (text for key, text in catalogue._catalog.items() if key)  # type: ignore[attr-defined]
    names = babel.Locale.parse(language)
    for group in (names.languages, names.territories, names.currencies, names.scripts):
        yield from group.values()


def _counts(language: str) -> tuple[Counter[tuple[str, str]], Counter[str]]:
    pairs: Counter[tuple[str, str]] = Counter()
    single: Counter[str] = Counter()
    for text in _texts(language):
        letters = "".join(
            character if unicodedata.category(character)[0] in "LM" and character not in "ªº" else " "
            for character in _PLACEHOLDER.sub(" ", text.translate(OLDER)).lower()
        )
        words = " ".join(letters.split())
        single.update(words)
        pairs.update(zip(f" {words}", f"{words} ", strict=True))
    return pairs, single


def _entry(first: str, second: str, share: float) -> str:
    return f"{first}{second}{chr(ord('A') + min(MAX_BITS, round(-math.log2(share))))}"


def _line(language: str) -> str:
    pairs, single = _counts(language)
    total = single.total()
    kept = [letter for letter, count in single.most_common(MAX_CHARACTERS) if count > 1 or letter.isascii()]
    entries = [_entry(".", letter, single[letter] / total) for letter in kept]
    if language not in BY_CHARACTER:
        foreign = [(pair, count) for pair, count in pairs.most_common() if count > 1 and not "".join(pair).isascii()]
        entries += [_entry(*pair, count / single[pair[0]]) for pair, count in foreign[:MAX_PAIRS]]
    return f"{language}\t{''.join(entries)}\n"


def main() -> None:
    TARGET.write_text("".join(map(_line, LANGUAGES)))


if __name__ == "__main__":
    main()
