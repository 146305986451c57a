"""Categories that an operator defines: phrases, lengths and languages, each of which must fit where it is given.

Phrases and not regular expressions: those of a person in a hurry can take minutes on one prompt.
"""

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True)
class Rule:
    """phrases: one of them must occur as whole words; with `*` at its end, as the beginning of a word."""

    slug: str
    phrases: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    fewest_characters: int = 0
    fewest_turns: int = 0

    def holds(self, prompts: Sequence[str], language: str) -> bool:
        if len(prompts) < self.fewest_turns or sum(map(len, prompts)) < self.fewest_characters:
            return False
        if self.languages and language not in self.languages:
            return False
        return not self.phrases or _pattern(self.phrases).search(_folded("\n".join(prompts))) is not None


def digest_of(rules: Sequence[Rule]) -> str:
    """Eight hex digits that change when any rule does; "" without rules."""
    return hashlib.sha256(repr(sorted(rules, key=lambda rule: rule.slug)).encode()).hexdigest()[:8] if rules else ""


@lru_cache(maxsize=256)
def _pattern(phrases: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(_phrase(_folded(phrase)) for phrase in phrases))


def _phrase(phrase: str) -> str:
    whole = re.escape(phrase.removesuffix("*").strip())
    before = r"(?<!\w)" if phrase[0].isalnum() else ""
    after = r"(?!\w)" if phrase[-1].isalnum() else ""
    return before + whole + after


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
