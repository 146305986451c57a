"""The rules by which a conversation is filed under categories. They see what the person wrote, never an answer.

No Django here: texts in, keys out. Keys are slugs; what they are called for people is in battles.labels.categories.
"""

import re
from collections.abc import Sequence

from battles.text import vocabulary as words
from battles.text.creative_requests import CREATIVE
from battles.text.format_instructions import LOOSE_WISHES, STRICT_WISHES
from battles.text.labels import Labels
from battles.text.language import VERSION as LANGUAGE_VERSION
from battles.text.language import language_of
from battles.text.natural_text import FENCED_CODE, prose, what_is_read, without_code

VERSION = f"labels-1 {LANGUAGE_VERSION}"

# A long prompt is about 500 tokens: four characters of an alphabet make one, a Chinese or Japanese sign is one.
LONG_CHARACTERS = 2_000
_DENSE_SIGN = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
CHARACTERS_PER_DENSE_SIGN = 4

# A problem told in words has at least these many.
NUMBERS_OF_A_PROBLEM = 2

# Data that an answer may be wanted as, by people who do not program.
_FORMATS = re.compile(r"(?<!\w)(?:json|yaml|xml|html5?)(?!\w)", re.IGNORECASE)

# Signs that a prompt is hard, of which this many are needed.
HARD_SIGNS = 3
MANY_WORDS = 25
FEW_REASONING_WORDS, MANY_REASONING_WORDS = 1, 2


def classify(prompts: Sequence[str]) -> Labels:
    """Categories and language of a conversation.

    prompts: what was asked in the turns that were judged, in order. A category that one prompt has, the conversation
    has; its language is the one of everything that was asked.
    """
    categories: set[str] = set()
    for prompt in prompts:
        categories |= _categories_of(prompt)
    if len(prompts) > 1:
        categories.add("multi-turn")
    asked = prose(without_code(what_is_read("\n\n".join(prompts))))
    return Labels(tuple(sorted(categories)), language_of(asked))


def _categories_of(prompt: str) -> set[str]:
    text = what_is_read(prompt)
    told = without_code(text)  # formulas remain
    rules = {
        "coding": _is_coding(text, told),
        "maths": _is_maths(told),
        "creative-writing": CREATIVE.search(told) is not None,
        "instruction-following": _gives_instructions(told),
        "long-prompt": _is_long(prompt),
    }
    categories = {key for key, holds in rules.items() if holds}
    if _is_hard(prose(told), is_technical=not categories.isdisjoint({"coding", "maths"})):
        categories.add("hard-prompt")
    return categories


def _is_coding(text: str, told: str) -> bool:
    if words.PROGRAMMING.search(told) and not _only_wants_a_format(told):
        return True
    if words.CODING.search(told) or words.CODE_SIGNS.search(text):
        return True
    if any(fence.group(0).lstrip()[3:4].isalpha() for fence in FENCED_CODE.finditer(text)):
        return True  # the fence names a language
    return len(_different(words.PERHAPS_PROGRAMMING, told)) >= 2


def _only_wants_a_format(told: str) -> bool:
    """Whether what sounds like programming is the form in which an answer is wanted: "as JSON only"."""
    has_wish = any(wish.search(told) for wish in STRICT_WISHES)
    return has_wish and words.PROGRAMMING.search(_FORMATS.sub("", told)) is None


def _is_maths(told: str) -> bool:
    if words.MATHS.search(told) or words.FORMULAS.search(told):
        return True
    has_numbers = len(words.NUMBER.findall(told)) >= NUMBERS_OF_A_PROBLEM
    return has_numbers and words.ASKS_FOR_A_NUMBER.search(told) is not None


def _wishes(told: str) -> tuple[int, int]:
    """How many kinds of checkable wishes about the answer's form there are: strict ones, loose ones."""
    strict = sum(wish.search(told) is not None for wish in STRICT_WISHES)
    loose = sum(wish.search(told) is not None for wish in LOOSE_WISHES)
    return strict, loose


def _gives_instructions(told: str) -> bool:
    strict, loose = _wishes(told)
    return strict >= 1 or loose >= 2


def _is_long(prompt: str) -> bool:
    dense = len(_DENSE_SIGN.findall(prompt))
    return len(prompt) + (CHARACTERS_PER_DENSE_SIGN - 1) * dense >= LONG_CHARACTERS


def _is_hard(told: str, *, is_technical: bool) -> bool:
    reasoning = len(_different(words.REASONING, told))
    signs = [
        reasoning >= FEW_REASONING_WORDS,
        reasoning >= MANY_REASONING_WORDS,
        is_technical,
        len(told.split()) >= MANY_WORDS,
        sum(_wishes(told)) >= 3,
    ]
    return sum(signs) >= HARD_SIGNS


def _different(pattern: re.Pattern[str], text: str) -> set[str]:
    return {found.lower() for found in pattern.findall(text)}
