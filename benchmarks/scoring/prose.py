"""Words, sentences, paragraphs and language of an answer."""

import re

import sentencex

from battles.text.classifier import extract_prose
from battles.text.labels import UNDETERMINED
from battles.text.language import detect_language

_WORD = re.compile(r"\w+")
_BULLET = re.compile(r"^[^\S\n]*(?:\*[^*\n].*|-.*)$", re.MULTILINE)


def words(text: str) -> list[str]:
    return _WORD.findall(text)


def sentences(text: str, language: str = "en") -> list[str]:
    """Return sentences without outer space; a line break ends one."""
    return [
        sentence
        for line in text.splitlines()
        for part in sentencex.segment(language, line)
        if (sentence := part.strip()) and _WORD.search(sentence)
    ]


def paragraphs(text: str) -> list[str]:
    """Return parts between empty lines."""
    return [part for part in re.split(r"\n\s*\n", text) if part.strip()]


def bullets(text: str) -> int:
    """Count Markdown's bullet points, as IFEval does."""
    return len(_BULLET.findall(text))


def language_of(text: str) -> str:
    """Return the ISO 639-1 code of most of a text, or "" if it cannot be determined."""
    code = detect_language(extract_prose(text))
    return "" if code == UNDETERMINED else code
