"""Operator's categories, by phrases, lengths and languages.

Phrases, because a careless regular expression can take minutes on one prompt.
"""

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True)
class Rule:
    """Conditions of one category; all given ones must hold.

    phrases: one of them must occur as whole words; with `*` at its end, as the beginning of a word.
    """

    # rules_digest hashes the repr: renaming the class or a field would relabel every vote.
    slug: str
    phrases: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    fewest_characters: int = 0
    fewest_turns: int = 0

    def matches(self, prompts: Sequence[str], language: str) -> bool:
        if len(prompts) < self.fewest_turns or sum(map(len, prompts)) < self.fewest_characters:
            return False
        if self.languages and language not in self.languages:
            return False
        return not self.phrases or _phrases_pattern(self.phrases).search(_fold("\n".join(prompts))) is not None


def rules_digest(rules: Sequence[Rule]) -> str:
    """Return eight hex digits that change when any rule does; "" without rules."""
    return hashlib.sha256(repr(sorted(rules, key=lambda rule: rule.slug)).encode()).hexdigest()[:8] if rules else ""


@lru_cache(maxsize=256)
def _phrases_pattern(phrases: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(_phrase_pattern(_fold(phrase)) for phrase in phrases))


def _phrase_pattern(phrase: str) -> str:
    whole = re.escape(phrase.removesuffix("*").strip())
    before = r"(?<!\w)" if phrase[0].isalnum() else ""
    after = r"(?!\w)" if phrase[-1].isalnum() else ""
    return before + whole + after


def _fold(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
