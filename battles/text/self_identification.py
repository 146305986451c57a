"""Whether an answer gives away who wrote it: a model's own names anywhere, or anybody's name in "I am …".

No Django here. Texts are compared as a reader sees them: without markup, invisible characters, accents and emphasis,
full-width and look-alike letters taken for what they look like.
"""

import html
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from battles.text.normalization import LOOK_ALIKES, plain_letters

# Said in the first person they claim an identity, whichever model says so. In the form that `_as_read` gives.
WELL_KNOWN = (
    "chatgpt", "gpt", "gpt 3", "gpt 4", "gpt 4o", "gpt 5", "openai", "claude", "anthropic", "gemini", "gemma",
    "bard", "google", "deepmind", "llama", "meta", "meta ai", "mistral", "mistral ai", "mixtral", "codestral",
    "le chat", "qwen", "tongyi", "alibaba", "alibaba cloud", "deepseek", "grok", "xai", "command r", "cohere",
    "phi", "microsoft", "copilot", "bing", "kimi", "moonshot", "moonshot ai", "glm", "chatglm", "zhipu", "ernie",
    "baidu", "nova", "amazon", "jamba", "falcon", "vicuna", "alpaca", "smollm", "hugging face", "olmo", "granite",
    "ibm", "nemotron", "nvidia", "hermes", "nous research", "minimax", "doubao", "bytedance", "hunyuan",
    "tencent", "perplexity", "sonar", "reka", "inflection", "teuken", "apertus", "lumo", "euria",
)  # fmt: skip

# Shorter names are words of their own too often: they count in "I am …" only.
SHORTEST_NAME = 4
# Longer ones are found even when every letter stands apart.
SHORTEST_SPACED = 6
# What a display name may begin with without naming anything.
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
# Between the first person and a name: up to six words, none of which says that something else is meant.
_BETWEEN = (
    r"(?: (?!(?:not|sure|that|if|whether|sorry|afraid|going|about|happy|glad|unable|aware|familiar|with|like|pas|"
    r"nicht|no) )[^ |]{1,20}){0,6}?"
)
_ARTICLE = r"(?: (?:a|an|the|actually|indeed|just|really|un|une|ein|eine|el|il|o))?"
# Chinese, Japanese, Korean and Arabic introductions, up to the name.
_ELSEWHERE = r"(?:我是|我叫|我的名字是|私は|僕は|わたしは|저는|나는|제 이름은|انا|اسمي)[^|]{0,24}?"

_TAG_OR_TARGET = re.compile(r"<[^<>]{1,200}>|\]\([^()\s]{0,300}\)")
_EMPHASIS = re.compile(r"[*_~`\[\]\\]")
_SENTENCE_END = re.compile(r"[.!?。！？…]+(?=\s|$)|\n+")
_OTHER_SIGNS = re.compile(r"[^\w|]+")
_PARTS = re.compile(r"[^\W\d_]+|\d+")


@dataclass(frozen=True)
class _Names:
    """What must not be said of itself (`introduced`), and what must not be said at all (`own`)."""

    introduced: re.Pattern[str]
    own: re.Pattern[str] | None
    # Without their spaces; where none of them stands, the patterns need not be tried.
    beginnings: tuple[str, ...]
    squeezed: tuple[str, ...]


def names_itself(text: str, *, names: Iterable[str], maker: str = "") -> bool:
    """Whether a reader of an answer is told which model, or whose, it is.

    names: what the model is called, as people and its provider write it. maker: the organization behind it.
    """
    known = _known(tuple(names), maker)
    read = _as_read(text)
    if any(beginning in read for beginning in known.beginnings) and known.introduced.search(read):
        return True
    if known.own is None:
        return False
    for spelling in {read, read.translate(LOOK_ALIKES)}:
        squeezed = spelling.replace(" ", "")
        if any(name in squeezed for name in known.squeezed) and known.own.search(spelling):
            return True
    return False


def _as_read(text: str) -> str:
    """Lower-case words with one space between them, and a bar where a sentence ends."""
    text = _TAG_OR_TARGET.sub("", html.unescape(text))
    text = plain_letters(_EMPHASIS.sub("", text))
    text = _SENTENCE_END.sub(" | ", text)
    return " ".join(_OTHER_SIGNS.sub(" ", text).split())


@lru_cache(maxsize=1024)
def _known(names: tuple[str, ...], maker: str) -> _Names:
    written = {name.replace("_", " ") for name in names}
    written |= {name.rpartition("/")[2] for name in written}  # "acme/wombat-9b"
    read = {_as_read(name).replace("|", " ").strip() for name in written} - {""}
    own = {name for name in read if len(name) >= SHORTEST_NAME and name not in _GENERIC}
    first_words = {word for name in read if len(word := _first_word(name)) >= SHORTEST_NAME} - _GENERIC
    introduced = read | first_words | set(WELL_KNOWN) | ({_as_read(maker)} - {""})
    named = _any_of(_spelled(name) for name in introduced)
    return _Names(
        introduced=re.compile(
            rf"(?<!\w)(?:{_FIRST_PERSON})(?:{_BETWEEN} (?:{_LEADS_TO_A_NAME})|{_ARTICLE}) {named}|{_ELSEWHERE}{named}"
        ),
        own=re.compile(rf"(?<!\w){_any_of(_spelled(name, spaced=True) for name in own)}") if own else None,
        beginnings=tuple(sorted({_first_word(name) for name in introduced})),
        squeezed=tuple("".join(_PARTS.findall(name)) for name in sorted(own)),
    )


def _any_of(spellings: Iterable[str]) -> str:
    """The longest that fits, up to the end of a word; a version may follow at once: "Qwen2"."""
    return f"(?:{'|'.join(sorted(spellings, key=len, reverse=True))})(?![a-z\u0400-\u04ff])"


def _first_word(name: str) -> str:
    found = _PARTS.search(name)
    return found[0] if found else ""


def _spelled(name: str, *, spaced: bool = False) -> str:
    """A pattern for a name however its parts are joined: "GPT-4o", "gpt 4o", "GPT4o"."""
    parts = _PARTS.findall(name)
    if spaced and sum(map(len, parts)) >= SHORTEST_SPACED:
        return " ?".join(re.escape(letter) for part in parts for letter in part)
    return " ?".join(re.escape(part) for part in parts)
