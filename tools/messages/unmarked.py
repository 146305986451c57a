"""Words that people would read and nobody could translate, in templates and in programs."""

import ast
import re
from collections.abc import Iterator
from html.parser import HTMLParser

from django.template.base import Lexer, TokenType

# The same in every language.
NAMES = {"CSV", "JSON", "JSONL", "SHA", "ms", "API"}
READ_OUT = ("alt", "aria-description", "aria-label", "label", "placeholder", "title")
NOT_PROSE = ("code", "kbd", "script", "style")
# Blocks of a template in which text is no output, or is translated.
SILENT = {"comment": "endcomment", "blocktranslate": "endblocktranslate", "blocktrans": "endblocktrans"}
# What a program says to people: arguments of these, and what is called so.
SAYS = {"error", "info", "success", "warning", "ValidationError", "refused", "_refused"}
SAID = {"description", "empty_label", "help_text", "label", "message", "short_description", "verbose_name"}
# The log and the API's documentation are in English.
FOR_OTHERS = {"logger", "serializers"}
SENTENCE = re.compile(r"[^\W\d_]{2,}[^\w]+[^\W\d_]{2,}|^[A-Z][^\W\d_]+\.?$")


def words_in_template(source: str) -> list[str]:
    """In the order in which they stand there."""
    page = _Page()
    page.feed(re.sub(r"(</?) +", r"\1", "".join(_output(source))))  # an element's name may be a choice of two
    return [word for text in page.read for word in re.findall(r"[^\W\d_]{2,}", text) if word not in NAMES]


def _output(source: str) -> Iterator[str]:
    """The text between the tags, and a blank for each of them."""
    until = ""
    for token in Lexer(source).tokenize():
        name = token.contents.split(" ", 1)[0] if token.token_type == TokenType.BLOCK else ""
        if until:
            until = "" if name == until else until
        elif name in SILENT:
            until = SILENT[name]
        elif token.token_type == TokenType.TEXT:
            yield token.contents
        elif token.contents == "block layout":  # a class of the page's body
            until = "endblock"
        else:
            yield " " if name else "·"


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.read: list[str] = []
        self._within: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in NOT_PROSE:
            self._within.append(tag)
        given = dict(attrs)
        if tag == "input" and given.get("type") in ("submit", "button"):
            self.read.append(given.get("value") or "")
        self.read += [given[name] or "" for name in READ_OUT if name in given]

    def handle_endtag(self, tag: str) -> None:
        if self._within and tag == self._within[-1]:
            self._within.pop()

    def handle_data(self, data: str) -> None:
        if not self._within:
            self.read.append(data)


def sentences_in_program(source: str, refusals: set[str]) -> list[str]:
    """Plain strings where a program speaks to people: what it refuses, its messages, its labels.

    refusals: the names of the exceptions whose words people read.
    """
    found = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=whose))) if whose in FOR_OTHERS:
                said = []
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=args, keywords=keywords):
                speaks = name in SAYS or name in refusals
                said = [*(args if speaks else ()), *(word.value for word in keywords if word.arg in SAID)]
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=value)
            ) if name in SAID and value is not None:
                said = [value]
            case _:
                said = []
        found += [text for one in said if (text := _plain(one)) and SENTENCE.search(text)]
    return found


def _plain(node: ast.expr) -> str:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(_plain(value) or "…" for value in values)
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return " ".join(_plain(element) for element in elements)
    return ""
