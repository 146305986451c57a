"""Markdown from models and people becomes safe HTML, or plain words, here and nowhere else."""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from common.formulas import MATHML_ATTRIBUTES, MATHML_TAGS, read_formulas

# Highlighting costs more than it helps beyond this many characters of one code block.
HIGHLIGHT_CHARACTERS = 20_000

_ATTRIBUTES: dict[str, set[str]] = {
    **MATHML_ATTRIBUTES,
    "a": {"href", "title"},
    "code": {"class"},
    "div": {"class", "tabindex"},
    "ol": {"start"},
    "pre": {"class", "tabindex"},
    "span": {"class"},
    "td": {"align"},
    "th": {"align"},
}
_TAGS = {
    *_ATTRIBUTES,
    *MATHML_TAGS,
    *("p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "ul", "li", "em", "strong", "s", "del"),
    *("table", "thead", "tbody", "tr"),
}


_FORMATTER = HtmlFormatter[str](nowrap=True)


def _fence(_renderer: RendererHTML, tokens: list[Token], index: int, _options: Any, _env: Any) -> str:
    token = tokens[index]
    language = token.info.strip().split(" ")[0].lower()
    code = nh3.clean_text(token.content)
    if language and len(token.content) <= HIGHLIGHT_CHARACTERS:
        try:
            code = highlight(token.content, get_lexer_by_name(language, stripnl=False), _FORMATTER)
        except ClassNotFound:
            language = ""
    label = nh3.clean_text(language)
    # tabindex: a block wider than its pane must be scrollable by keyboard.
    pre = f'<pre tabindex="0"><code>{code}</code></pre>'
    return f'<div class="code"><div class="code-head">{label}</div>{pre}</div>\n'


def _heading(_renderer: RendererHTML, tokens: list[Token], index: int, _options: Any, env: dict[str, Any]) -> str:
    token = tokens[index]
    tag = f"h{min(6, int(token.tag[1]) + env.get('first_heading', 1) - 1)}"
    return f"<{tag}>" if token.nesting == 1 else f"</{tag}>\n"


def _table_open(*_: Any) -> str:
    """A frame that scrolls by itself, by keyboard too: a table that scrolls is no table to some screen readers."""
    return '<div class="wide" tabindex="0"><table>\n'


def _table_close(*_: Any) -> str:
    return "</table></div>\n"


@cache
def _parser() -> MarkdownIt:
    """js-default: raw HTML is shown as text. Images are refused, so that a reader fetches nothing from elsewhere."""
    parser = MarkdownIt("js-default", {"linkify": False, "breaks": False})
    parser.disable("image")
    parser.add_render_rule("fence", _fence)
    parser.add_render_rule("heading_open", _heading)
    parser.add_render_rule("heading_close", _heading)
    parser.add_render_rule("table_open", _table_open)
    parser.add_render_rule("table_close", _table_close)
    read_formulas(parser)
    return parser


def make_safe(html: str) -> SafeString:
    """The one place that declares HTML safe: an allow-list of tags and attributes, http(s) and mailto links only."""
    cleaned = nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
        clean_content_tags={"script", "style"},
    )
    return mark_safe(cleaned)  # noqa: S308 (nh3 has just cleaned it)


def render(text: str, *, first_heading: int = 4) -> SafeString:
    """Safe HTML of a Markdown text. Deep nesting that defeats the parser is shown as plain text.

    first_heading: the level that "# …" becomes; an answer's headings stand below those of the page around it.
    """
    try:
        return make_safe(_parser().render(text, {"first_heading": first_heading}))
    except RecursionError:
        return make_safe(f"<pre>{nh3.clean_text(text)}</pre>")


@cache
def _reader() -> MarkdownIt:
    """What is asked about `&lt;` stays so."""
    reader = MarkdownIt("js-default", {"linkify": False})
    reader.disable("entity")
    read_formulas(reader)
    return reader


def plain_words(text: str) -> str:
    """What is read of a Markdown text without its marks, on one line; the text itself where that is nothing."""
    try:
        words = "".join(_words(_reader().parse(text)))
    except RecursionError:
        words = ""
    return " ".join(words.split()) or " ".join(text.split())


def _words(tokens: Iterable[Token]) -> Iterator[str]:
    before = ""
    products = []  # for each "*" that is open: "2*3*4" is no emphasis, whatever Markdown holds
    for token in tokens:
        word = token.content
        if token.type == "inline":
            word = "".join(_words(token.children or []))
        elif token.type == "em_open":
            products.append(token.markup == "*" and before[-1:].isalnum())
            word = "*" if products[-1] else ""
        elif token.type == "em_close":
            word = "*" if products.pop() else ""
        elif token.type in ("softbreak", "hardbreak"):
            word = " "
        before = word or before
        yield f"{word} " if token.block else word
