"""Texts before their numbers are read: LaTeX, fractions and exponents become plain signs."""

import re
import unicodedata

from benchmarks.scoring.reading.plain_text import after_reasoning

# Stands for a part of a formula whose value is not read.
FORMULA = "\ue000"
_STYLED = re.compile(r"\\(?:text|textbf|mathrm|mathbf|mbox|operatorname)\s?\{([^{}]{0,200})\}")
_FRACTION = re.compile(r"\\[dtc]?frac\s?(?:\{([^{}]{0,200})\}\s?\{([^{}]{0,200})\}|(\d)\s?(\d))")
_WHOLE = re.compile(r"\s*([-−]?)\s*(\d[\d.,]{0,40}|\d)\s*")
_COMMANDS = (
    (re.compile(r"\\sqrt\s?(?:\[[^\[\]]{0,9}\])?\s?(?:\{[^{}]{0,200}\}|\w)?|\\pi(?!\w)|[π√]"), FORMULA),
    (re.compile(r"\\times|\\cdot"), "×"),
    (re.compile(r"\\pm(?!\w)"), "±"),
    (re.compile(r"\\(?:leq?|leqslant)(?!\w)"), "≤"),
    (re.compile(r"\\(?:geq?|geqslant)(?!\w)"), "≥"),
    (re.compile(r"\^\s?\{?\\circ\}?"), "°"),
    (re.compile(r"(?<=\d)\\[,;:! ](?=\d)"), "\u202f"),
    (re.compile(r"(?<=\d)\{,\}(?=\d)"), ","),
    (re.compile(r"\\([%$#&_])"), r"\1"),
    (re.compile(r"\\(?:left|right|quad|[()\[\],;:!])"), " "),
    (re.compile(r"\\(?:boxed|fbox|displaystyle)(?!\w)"), ""),
    (re.compile(r"</?[A-Za-z][^<>]{0,50}>"), " "),
    (re.compile(r"(?<=\d)\*\*(?=[-+(]?\d)"), "^"),
    (re.compile(r"\*\*|`|(?<![^\W_])_|_(?![^\W_])"), ""),
)
_SIGN_OF_FRACTION = re.compile(r"(\d ?)?([¼-¾⅐-⅞])")
_RAISED = re.compile(r"([^\W_])?([⁺⁻]?[⁰¹²³⁴-⁹]{1,9})")
_PLAIN = str.maketrans("⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "+-0123456789")


def numeral_text(text: str) -> str:
    """Return a text whose fractions are 3⁄4, whose powers are 10^23, and that has FORMULA for roots and the like."""
    text = after_reasoning(text).replace("’", "'")
    for _ in range(2):
        text = _STYLED.sub(r" \1", text)
    text = _FRACTION.sub(_fraction, text)
    for pattern, plain in _COMMANDS:
        text = pattern.sub(plain, text)
    return _RAISED.sub(_raised, _SIGN_OF_FRACTION.sub(_sign_of_fraction, text))


def _fraction(match: "re.Match[str]") -> str:
    numerator, denominator = (_WHOLE.fullmatch(match[one] or match[other]) for one, other in ((1, 3), (2, 4)))
    if numerator is None or denominator is None or "." in denominator[2]:
        return FORMULA
    space = " " if match.string[: match.start()].endswith(tuple("0123456789")) else ""
    sign = "-" if bool(numerator[1]) is not bool(denominator[1]) else ""
    return f"{space}{sign}{numerator[2]}⁄{denominator[2].replace(',', '')}"


def _sign_of_fraction(match: "re.Match[str]") -> str:
    whole = f"{match[1].strip()} " if match[1] else ""
    return whole + unicodedata.normalize("NFKC", match[2])


def _raised(match: "re.Match[str]") -> str:
    """Return a power of a number or of a lone letter; other raised digits belong to units."""
    before = match.string[max(0, match.start() - 1) : match.start()]
    if match[1] and (match[1].isdigit() or (match[1] in "xyzabn" and not before.isalpha())):
        return f"{match[1]}^{match[2].translate(_PLAIN)}"
    return match[1] or ""
