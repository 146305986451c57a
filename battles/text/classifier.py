"""Categories of conversations, by their prompts only.

Keys are slugs; battles.labels.categories has names for people.
"""

import re
from collections.abc import Sequence

from battles.text import vocabulary
from battles.text.creative_requests import CREATIVE
from battles.text.format_instructions import LOOSE_INSTRUCTIONS, STRICT_INSTRUCTIONS
from battles.text.labels import Labels
from battles.text.language import VERSION as LANGUAGE_VERSION
from battles.text.language import detect_language

VERSION = f"labels-1 {LANGUAGE_VERSION}"

# Only the beginning and the end of longer prompts are read, where the question usually stands.
FIRST_CHARACTERS, LAST_CHARACTERS = 6_000, 2_000

FENCED_CODE = re.compile(r"^[ \t]*(```|~~~)[^\n]*\n(.*?)(?:^[ \t]*\1|\Z)", re.MULTILINE | re.DOTALL)
_INLINE_CODE = re.compile(r"`[^`\n]{1,500}`")
FORMULA = re.compile(
    r"\$\$[^$]{1,2000}\$\$|(?<!\\)\$(?=\S)[^$\n]{1,300}(?<=\S)\$(?!\d)|\\\(.{1,300}?\\\)|\\\[.{1,2000}?\\\]"
)
_ADDRESS = re.compile(r"\b(?:https?://|www\.)\S+|\b[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{2,64}")
_MARKUP = re.compile(r"<[^<>\n]{1,200}>")
_SPACE = re.compile(r"\s+")

# Some 500 tokens: four letters of an alphabet make one token, and so does one Chinese or Japanese character.
MIN_LONG_CHARACTERS = 2_000
_DENSE_CHARACTER = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
CHARACTERS_PER_DENSE_CHARACTER = 4

# A problem in words has at least this many numbers.
MIN_NUMBERS_IN_PROBLEM = 2

# Data formats that people who do not program also ask for.
_FORMATS = re.compile(r"(?<!\w)(?:json|yaml|xml|html5?)(?!\w)", re.IGNORECASE)

# A hard prompt has at least MIN_HARD_SIGNS of the signs listed in _is_hard.
MIN_HARD_SIGNS = 3
MIN_WORDS_OF_LONG_REQUEST = 25
SOME_REASONING_WORDS, MANY_REASONING_WORDS = 1, 2


def classify(prompts: Sequence[str]) -> Labels:
    """Return each prompt's categories and the language of all prompts together.

    prompts: those of the judged turns, in order.
    """
    categories: set[str] = set()
    for prompt in prompts:
        categories |= _prompt_categories(prompt)
    if len(prompts) > 1:
        categories.add("multi-turn")
    prose = extract_prose(without_code(head_and_tail("\n\n".join(prompts))))
    return Labels(tuple(sorted(categories)), detect_language(prose))


def _prompt_categories(prompt: str) -> set[str]:
    text = head_and_tail(prompt)
    uncoded = without_code(text)  # formulas remain
    rules = {
        "coding": _is_coding(text, uncoded),
        "maths": _is_maths(uncoded),
        "creative-writing": CREATIVE.search(uncoded) is not None,
        "instruction-following": _gives_instructions(uncoded),
        "long-prompt": _is_long(prompt),
    }
    categories = {key for key, holds in rules.items() if holds}
    if _is_hard(extract_prose(uncoded), is_technical=not categories.isdisjoint({"coding", "maths"})):
        categories.add("hard-prompt")
    return categories


def _is_coding(text: str, uncoded: str) -> bool:
    if vocabulary.PROGRAMMING.search(uncoded) and not _only_names_format(uncoded):
        return True
    if vocabulary.CODING.search(uncoded) or vocabulary.CODE_SYNTAX.search(text):
        return True
    if any(fence.group(0).lstrip()[3:4].isalpha() for fence in FENCED_CODE.finditer(text)):
        return True  # the fence names a language
    return len(_distinct_matches(vocabulary.AMBIGUOUS_PROGRAMMING, uncoded)) >= 2


def _only_names_format(text: str) -> bool:
    """Return whether programming words only name the answer's format: "as JSON only"."""
    has_instruction = any(pattern.search(text) for pattern in STRICT_INSTRUCTIONS)
    return has_instruction and vocabulary.PROGRAMMING.search(_FORMATS.sub("", text)) is None


def _is_maths(text: str) -> bool:
    if vocabulary.MATHS.search(text) or vocabulary.FORMULAS.search(text):
        return True
    has_numbers = len(vocabulary.NUMBER.findall(text)) >= MIN_NUMBERS_IN_PROBLEM
    return has_numbers and vocabulary.QUANTITY_QUESTION.search(text) is not None


def _count_format_instructions(text: str) -> tuple[int, int]:
    """Return the number of kinds of instructions that occur: (strict, loose)."""
    strict = sum(pattern.search(text) is not None for pattern in STRICT_INSTRUCTIONS)
    loose = sum(pattern.search(text) is not None for pattern in LOOSE_INSTRUCTIONS)
    return strict, loose


def _gives_instructions(text: str) -> bool:
    strict, loose = _count_format_instructions(text)
    return strict >= 1 or loose >= 2


def _is_long(prompt: str) -> bool:
    dense = len(_DENSE_CHARACTER.findall(prompt))
    return len(prompt) + (CHARACTERS_PER_DENSE_CHARACTER - 1) * dense >= MIN_LONG_CHARACTERS


def _is_hard(text: str, *, is_technical: bool) -> bool:
    reasoning = len(_distinct_matches(vocabulary.REASONING, text))
    signs = [
        reasoning >= SOME_REASONING_WORDS,
        reasoning >= MANY_REASONING_WORDS,
        is_technical,
        len(text.split()) >= MIN_WORDS_OF_LONG_REQUEST,
        sum(_count_format_instructions(text)) >= 3,
    ]
    return sum(signs) >= MIN_HARD_SIGNS


def _distinct_matches(pattern: re.Pattern[str], text: str) -> set[str]:
    return {word.lower() for word in pattern.findall(text)}


def head_and_tail(text: str) -> str:
    if len(text) <= FIRST_CHARACTERS + LAST_CHARACTERS:
        return text
    return f"{text[:FIRST_CHARACTERS]}\n{text[-LAST_CHARACTERS:]}"


def without_code(text: str) -> str:
    return _INLINE_CODE.sub(" ", FENCED_CODE.sub("\n", text))


def extract_prose(text: str) -> str:
    """Return the text on one line, without formulas, addresses and markup."""
    for pattern in (FORMULA, _ADDRESS, _MARKUP):
        text = pattern.sub(" ", text)
    return _SPACE.sub(" ", text).strip()
