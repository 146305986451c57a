"""Markdown to safe HTML or plain text; the only module that does this."""

import html as html_text
import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from common.text.formulas import MATHML_ATTRIBUTES, MATHML_TAGS, add_formula_rules

# Texts with longer HTML are shown as plain text: a wide table is twenty times as long as its source.
MAX_HTML_CHARACTERS = 400_000
# "//" is required: browsers resolve "https:path" relative to the page.
_ABSOLUTE = re.compile(r"https?://|mailto:", re.IGNORECASE)

# Rendered behind a growing text, this character for private use finds the place where the text goes on.
TIP = "\ue000"
_TIP = re.compile(rf'<span class="[\w -]+">{TIP}\s?</span>|{TIP}')  # code highlighting may mark it as an error

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


def _fence(_renderer: RendererHTML, tokens: list[Token], index: int, _options: Any, env: dict[str, Any]) -> str:
    # Imported late: workers render code in a child process, and need no lexers.
    from common.text.highlighting import MAX_TEXT_HTML_CHARACTERS, highlight_code, is_known

    token = tokens[index]
    language = token.info.strip().split(" ")[0].lower()
    used = env.get("code_html_characters", 0)
    code = highlight_code(token.content, language) if used < MAX_TEXT_HTML_CHARACTERS else None
    env["code_html_characters"] = used + len(code or "")
    label = nh3.clean_text(language if is_known(language) else "")
    # tabindex: a block wider than its pane must be scrollable by keyboard.
    pre = f'<pre tabindex="0"><code>{nh3.clean_text(token.content) if code is None else code}</code></pre>'
    return f'<div class="code"><div class="code-head">{label}</div>{pre}</div>\n'


def _heading(_renderer: RendererHTML, tokens: list[Token], index: int, _options: Any, env: dict[str, Any]) -> str:
    token = tokens[index]
    tag = f"h{min(6, int(token.tag[1]) + env.get('first_heading', 1) - 1)}"
    return f"<{tag}>" if token.nesting == 1 else f"</{tag}>\n"


def _table_open(*_: Any) -> str:
    # The frame scrolls, by keyboard too; some screen readers do not recognise a table that scrolls itself.
    return '<div class="wide" tabindex="0"><table>\n'


def _table_close(*_: Any) -> str:
    return "</table></div>\n"


@cache
def _parser() -> MarkdownIt:
    # js-default shows raw HTML as text. Without images, so that browsers load nothing from other sites.
    parser = MarkdownIt("js-default", {"linkify": False, "breaks": False})
    parser.disable("image")
    parser.add_render_rule("fence", _fence)
    parser.add_render_rule("heading_open", _heading)
    parser.add_render_rule("heading_close", _heading)
    parser.add_render_rule("table_open", _table_open)
    parser.add_render_rule("table_close", _table_close)
    parser.core.ruler.push("links", _drop_relative_links)
    add_formula_rules(parser)
    return parser


def _drop_relative_links(state: StateCore) -> None:
    """Reduce links without scheme or to this site to their text."""
    for block in state.tokens:
        if block.type == "inline" and block.children:
            block.children = list(_without_relative_links(block.children))


def _without_relative_links(tokens: list[Token]) -> Iterator[Token]:
    is_absolute: list[bool] = []  # for each link that is open
    for token in tokens:
        if token.type == "link_open":
            is_absolute.append(_ABSOLUTE.match(str(token.attrs.get("href", ""))) is not None)
        if token.type not in ("link_open", "link_close") or is_absolute[-1]:
            yield token
        if token.type == "link_close":
            is_absolute.pop()


@cache
def _cleaner() -> nh3.Cleaner:
    return nh3.Cleaner(
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        url_schemes={"http", "https", "mailto"},
        url_relative="deny",
        link_rel="noopener noreferrer nofollow",
        clean_content_tags={"script", "style"},
    )


def make_safe(html: str) -> SafeString:
    """Keep allowed tags and attributes; links only if they are absolute http(s) or mailto."""
    return declare_safe(_cleaner().clean(html))


def declare_safe(cleaned: str) -> SafeString:
    """Mark the result of make_safe as safe; also used for HTML from the rendering child."""
    return mark_safe(cleaned)  # noqa: S308 (nh3 has cleaned it)


def render(text: str, *, first_heading: int = 4) -> SafeString:
    """Return safe HTML of a Markdown text; as plain text if it nests too deeply or its HTML is too long.

    May take seconds for hostile text: render answers through `common.rendering.renderer`.
    first_heading: level of "# …", below the headings of the page.
    """
    try:
        html = _parser().render(text, {"first_heading": first_heading})
    except RecursionError:
        return plain(text)
    if len(html) > MAX_HTML_CHARACTERS:
        return plain(text)
    cleaned = make_safe(html)
    return cleaned if len(cleaned) <= MAX_HTML_CHARACTERS else plain(text)


def insert_at_tip(html: SafeString, text: str) -> SafeString | None:
    """Return HTML of a Markdown text and TIP with `text` in the place of TIP; None if it has none."""
    tip = next(iter(reversed(list(_TIP.finditer(html)))), None)
    if tip is None:
        return None
    inserted = f'<span class="tip">{html_text.escape(text, quote=False)}</span>'
    return declare_safe(html[: tip.start()] + inserted + html[tip.end() :])


def plain(text: str) -> SafeString:
    return make_safe(f'<pre class="plain" tabindex="0">{html_text.escape(text, quote=False)}</pre>')


@cache
def _plain_text_parser() -> MarkdownIt:
    parser = MarkdownIt("js-default", {"linkify": False})
    parser.disable("entity")  # a prompt about `&lt;` keeps it
    add_formula_rules(parser)
    return parser


def to_plain_text(text: str) -> str:
    """Return a Markdown text on one line without its markup; the source where nothing else is left."""
    try:
        words = "".join(_words(_plain_text_parser().parse(text)))
    except RecursionError:
        words = ""
    return " ".join(words.split()) or " ".join(text.split())


def _words(tokens: Iterable[Token]) -> Iterator[str]:
    before = ""
    products = []  # per open "*": True if it is a multiplication, as in "2*3*4", which Markdown parses as emphasis
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
