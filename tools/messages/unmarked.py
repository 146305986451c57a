"""Search for texts in templates and Python that people read and that are not marked."""

import ast
import re
from collections.abc import Iterator
from html.parser import HTMLParser

from django.template.base import Lexer, TokenType

# Words that are the same in every language.
UNTRANSLATED_WORDS = {"CSV", "JSON", "JSONL", "SHA", "ms", "API"}
TEXT_ATTRIBUTES = ("alt", "aria-description", "aria-label", "label", "placeholder", "title")
ELEMENTS_WITHOUT_PROSE = ("code", "kbd", "script", "style")
# Blocks of a template whose text is no output, or is translated.
SKIPPED_BLOCKS = {"comment": "endcomment", "blocktranslate": "endblocktranslate", "blocktrans": "endblocktrans"}
# People read the arguments of these calls, and the values of these names.
TEXT_FUNCTIONS = {"error", "info", "success", "warning", "ValidationError", "refused", "_refused"}
TEXT_NAMES = {"description", "empty_label", "help_text", "label", "message", "short_description", "verbose_name"}
# Logs and the API's documentation are in English.
ENGLISH_OBJECTS = {"logger", "serializers"}
SENTENCE = re.compile(r"[^\W\d_]{2,}[^\w]+[^\W\d_]{2,}|^[A-Z][^\W\d_]+\.?$")


def words_in_template(source: str) -> list[str]:
    """Return the unmarked words in their order."""
    page = _Page()
    page.feed(re.sub(r"(</?) +", r"\1", "".join(_output(source))))  # an element's name may come from a template tag
    return [word for text in page.texts for word in re.findall(r"[^\W\d_]{2,}", text) if word not in UNTRANSLATED_WORDS]


def _output(source: str) -> Iterator[str]:
    """Yield the text between template tags, and a blank or dot for each tag."""
    skipped_until = ""
    for token in Lexer(source).tokenize():
        name = token.contents.split(" ", 1)[0] if token.token_type == TokenType.BLOCK else ""
        if skipped_until:
            skipped_until = "" if name == skipped_until else skipped_until
        elif name in SKIPPED_BLOCKS:
            skipped_until = SKIPPED_BLOCKS[name]
        elif token.token_type == TokenType.TEXT:
            yield token.contents
        elif token.contents == "block layout":  # a class of the page's body
            skipped_until = "endblock"
        else:
            yield " " if name else "·"


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._within: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ELEMENTS_WITHOUT_PROSE:
            self._within.append(tag)
        attributes = dict(attrs)
        if tag == "input" and attributes.get("type") in ("submit", "button"):
            self.texts.append(attributes.get("value") or "")
        self.texts += [attributes[name] or "" for name in TEXT_ATTRIBUTES if name in attributes]

    def handle_endtag(self, tag: str) -> None:
        if self._within and tag == self._within[-1]:
            self._within.pop()

    def handle_data(self, data: str) -> None:
        if not self._within:
            self.texts.append(data)


def sentences_in_program(source: str, refusals: set[str]) -> list[str]:
    """Return unmarked refusals, messages and labels.

    refusals: names of exceptions whose texts people read.
    """
    sentences = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name))) if name in ENGLISH_OBJECTS:
                texts = []
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=args, keywords=keywords):
                is_text = name in TEXT_FUNCTIONS or name in refusals
                texts = [*(args if is_text else ()), *(word.value for word in keywords if word.arg in TEXT_NAMES)]
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=value)
            ) if name in TEXT_NAMES and value is not None:
                texts = [value]
            case _:
                texts = []
        sentences += [text for node in texts if (text := _plain(node)) and SENTENCE.search(text)]
    return sentences


def _plain(node: ast.expr) -> str:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(_plain(value) or "…" for value in values)
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return " ".join(_plain(element) for element in elements)
    return ""
