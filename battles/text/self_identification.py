"""Detect answers that reveal their model: its own names anywhere, or any model's name in "I am …".

Texts are compared without markup, invisible characters, accents and emphasis, and with look-alikes as Latin letters.
"""

import html
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from battles.text.normalization import LOOK_ALIKES, normalize_letters

# Names that claim an identity after "I am …", whichever model wrote it. In the form that `_normalize` returns.
WELL_KNOWN = (
    "chatgpt", "gpt", "gpt 3", "gpt 4", "gpt 4o", "gpt 5", "openai", "claude", "anthropic", "gemini", "gemma",
    "bard", "google", "deepmind", "llama", "meta", "meta ai", "mistral", "mistral ai", "mixtral", "codestral",
    "le chat", "qwen", "tongyi", "alibaba", "alibaba cloud", "deepseek", "grok", "xai", "command r", "cohere",
    "phi", "microsoft", "copilot", "bing", "kimi", "moonshot", "moonshot ai", "glm", "chatglm", "zhipu", "ernie",
    "baidu", "nova", "amazon", "jamba", "falcon", "vicuna", "alpaca", "smollm", "hugging face", "olmo", "granite",
    "ibm", "nemotron", "nvidia", "hermes", "nous research", "minimax", "doubao", "bytedance", "hunyuan",
    "tencent", "perplexity", "sonar", "reka", "inflection", "teuken", "apertus", "lumo", "euria",
)  # fmt: skip

# Shorter names are often ordinary words, so they count in "I am …" only.
MIN_NAME_LENGTH = 4
# Names of at least this length are also found when spaces separate all letters.
MIN_SPACED_LENGTH = 6
# First words of display names that name no model.
_GENERIC = {
    "model", "language", "large", "small", "local", "chat", "assistant", "test", "base", "the", "open", "free", "fast",
    "mini", "demo", "instruct", "my", "our", "new",
}  # fmt: skip

_FIRST_PERSON = (
    r"i am|i m|im|i was|i have been|i ve been|my name is|my name s|call me|you are talking to|you re talking to|"
    r"you are speaking with|my creators? (?:is|are)|my developers? (?:is|are)|"
    r"je suis|je m appelle|mon nom est|j ai ete|je m apelle|appelle moi|"
    r"ich bin|ich heisse|mein name ist|ich wurde|soy|me llamo|mi nombre es|fui|he sido|sono|mi chiamo|il mio nome e|"
    r"sono stato|sou|me chamo|meu nome e|ik ben|mijn naam is|ik heet|jestem|nazywam sie|jag ar|jag heter|"
    r"меня зовут|я|мене звати|benim adim|ben"
)
_LEADS_TO_A_NAME = (
    r"named|called|by|from|at|model|assistant|chatbot|ai|llm|bot|as|is|version|"
    r"nomme|appele|par|chez|modele|namens|von|durch|llamado|por|de|chiamato|da|chamado|pela|pelo|genaamd|door|"
    r"av|przez|modelem|модель|от|компании|компанией"
)
# Up to six words between the first person and a name, none of which shows that something else is meant.
_BETWEEN = (
    r"(?: (?!(?:not|sure|that|if|whether|sorry|afraid|going|about|happy|glad|unable|aware|familiar|with|like|pas|"
    r"nicht|no) )[^ |]{1,20}){0,6}?"
)
_ARTICLE = r"(?: (?:a|an|the|actually|indeed|just|really|un|une|ein|eine|el|il|o))?"
# Chinese, Japanese, Korean and Arabic introductions, up to the name.
_INTRODUCTIONS = r"(?:我是|我叫|我的名字是|私は|僕は|わたしは|저는|나는|제 이름은|انا|اسمي)[^|]{0,24}?"

_TAG_OR_TARGET = re.compile(r"<[^<>]{1,200}>|\]\([^()\s]{0,300}\)")
_EMPHASIS = re.compile(r"[*_~`\[\]\\]")
_SENTENCE_END = re.compile(r"[.!?。！？…]+(?=\s|$)|\n+")
_OTHER_SIGNS = re.compile(r"[^\w|]+")
_PARTS = re.compile(r"[^\W\d_]+|\d+")


@dataclass(frozen=True)
class _NamePatterns:
    """introduced: "I am …" with a model's name; own: the model's own names anywhere."""

    introduced: re.Pattern[str]
    own: re.Pattern[str] | None
    # Cheap substring checks: the patterns are only searched where one of these occurs. squeezed: without spaces.
    beginnings: tuple[str, ...]
    squeezed: tuple[str, ...]


def leaks_identity(text: str, *, names: Iterable[str], organization: str = "") -> bool:
    """Return whether an answer reveals its model or organization.

    names: the model's, as people and its provider write them.
    """
    patterns = _name_patterns(tuple(names), organization)
    normalized = _normalize(text)
    if any(beginning in normalized for beginning in patterns.beginnings) and patterns.introduced.search(normalized):
        return True
    if patterns.own is None:
        return False
    for spelling in {normalized, normalized.translate(LOOK_ALIKES)}:
        squeezed = spelling.replace(" ", "")
        if any(name in squeezed for name in patterns.squeezed) and patterns.own.search(spelling):
            return True
    return False


def _normalize(text: str) -> str:
    """Return lower-case words separated by one space, with "|" at the end of each sentence."""
    text = _TAG_OR_TARGET.sub("", html.unescape(text))
    text = normalize_letters(_EMPHASIS.sub("", text))
    text = _SENTENCE_END.sub(" | ", text)
    return " ".join(_OTHER_SIGNS.sub(" ", text).split())


@lru_cache(maxsize=1024)
def _name_patterns(names: tuple[str, ...], organization: str) -> _NamePatterns:
    written = {name.replace("_", " ") for name in names}
    written |= {name.rpartition("/")[2] for name in written}  # "acme/wombat-9b"
    normalized = {_normalize(name).replace("|", " ").strip() for name in written} - {""}
    own = {name for name in normalized if len(name) >= MIN_NAME_LENGTH and name not in _GENERIC}
    first_words = {word for name in normalized if len(word := _first_word(name)) >= MIN_NAME_LENGTH} - _GENERIC
    introduced = normalized | first_words | set(WELL_KNOWN) | ({_normalize(organization)} - {""})
    name = _any_of(_spelling(name) for name in introduced)
    return _NamePatterns(
        introduced=re.compile(
            rf"(?<!\w)(?:{_FIRST_PERSON})(?:{_BETWEEN} (?:{_LEADS_TO_A_NAME})|{_ARTICLE}) {name}|{_INTRODUCTIONS}{name}"
        ),
        own=re.compile(rf"(?<!\w){_any_of(_spelling(name, spaced=True) for name in own)}") if own else None,
        beginnings=tuple(sorted({_first_word(name) for name in introduced})),
        squeezed=tuple("".join(_PARTS.findall(name)) for name in sorted(own)),
    )


def _any_of(spellings: Iterable[str]) -> str:
    """Return a pattern that prefers the longest spelling; digits may follow directly: "Qwen2"."""
    return f"(?:{'|'.join(sorted(spellings, key=len, reverse=True))})(?![a-z\u0400-\u04ff])"


def _first_word(name: str) -> str:
    match = _PARTS.search(name)
    return match[0] if match else ""


def _spelling(name: str, *, spaced: bool = False) -> str:
    """Return a pattern for "GPT-4o", "gpt 4o" and "GPT4o" alike."""
    parts = _PARTS.findall(name)
    if spaced and sum(map(len, parts)) >= MIN_SPACED_LENGTH:
        return " ?".join(re.escape(letter) for part in parts for letter in part)
    return " ?".join(re.escape(part) for part in parts)
