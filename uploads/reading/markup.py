"""Texts of web pages. No Django: only the guarded child process uses it (uploads.reading.child)."""

import re
import sys
from importlib.metadata import version
from typing import NamedTuple

from inscriptis import Inscriptis
from inscriptis.css_profiles import CSS_PROFILES
from inscriptis.model.config import ParserConfig
from lxml import etree, html

from common.text import encodings
from common.text.storable import storable
from uploads.reading.findings import MAX_CHARACTERS, Note, NoteKind, Reason, Text, Unreadable
from uploads.reading.kinds import head_text

READER = f"inscriptis-{version('inscriptis')}"
_CONFIG = ParserConfig(css=CSS_PROFILES["strict"], display_links=True)
# The parser goes 2,048 elements deep, and inscriptis calls itself for each.
_MAX_RECURSION = 20_000
_CHARSET = re.compile(r"<meta\b[^>]*?charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_XML_CHARSET = re.compile(r"<\?xml\b[^>]*?encoding\s*=\s*[\"']([\w.:-]+)", re.IGNORECASE)
# A link to a place in the page, or to a script, says nothing without the page.
_TARGET = re.compile(r"(?:https?|mailto|ftp|tel):", re.IGNORECASE)
_PROGRAM_TYPES = ("", "text/javascript", "application/javascript", "module", "text/babel", "text/jsx")
_UNSEEN = "script | style | template | noscript | head | object | iframe"
_TEMPLATE_MARK = re.compile(r"\{%.*?%\}|\{\{.*?\}\}|<\?(?:php|=)|<%")
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n){2,}")
MIN_PROGRAM_LINES = 10
MAX_PROGRAM_LINE = 100


class Page(NamedTuple):
    text: str
    pictures: int
    is_program: bool


def extract_text(content: bytes) -> Text:
    """Return the text of a web page, or its source where that is what a person asks about. Raises Unreadable.

    A template, a page without text and one that is mostly its own program are source.
    """
    source = decode(content)
    page = read_page(source)
    if not page.text or page.is_program:
        text, notes = storable(source).replace("\r\n", "\n").strip("\n"), [Note(NoteKind.SOURCE_SENT)]
    else:
        text, notes = page.text, [Note(NoteKind.MARKUP_LEFT_OUT), *pictures_note(page.pictures)]
    if not text.strip():
        raise Unreadable(Reason.NO_TEXT)
    if len(text) > MAX_CHARACTERS:
        raise Unreadable(Reason.TOO_LONG)
    return Text([text], READER, notes)


def pictures_note(count: int) -> list[Note]:
    return [Note(NoteKind.PICTURES_LEFT_OUT, count)] if count else []


def decode(content: bytes, charset: str = "") -> str:
    """Decode by a byte order mark, as `charset`, as UTF-8, by the charset that the text names, or by its letters."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", "replace")
    if content.startswith(b"\xef\xbb\xbf"):
        return content[3:].decode(errors="replace")
    head = head_text(content)
    named = _XML_CHARSET.match(head) or _CHARSET.search(head)
    for encoding in (charset, "utf-8", named[1] if named else ""):
        try:
            return content.decode(_browser_encoding(encoding))
        except (LookupError, ValueError):
            continue
    guessed = encodings.decode(content)
    return guessed.text if guessed is not None else content.decode("cp1252", "replace")


def _browser_encoding(encoding: str) -> str:
    """Return the encoding that browsers use under a name: Latin-1 and ASCII are Windows-1252, GB 2312 is GB 18030."""
    name = encoding.strip().lower()
    if not name:
        raise LookupError
    wider = {"gb2312": "gb18030", "gbk": "gb18030", "ks_c_5601-1987": "cp949", "euc-kr": "cp949", "shift_jis": "cp932"}
    if name in ("iso-8859-1", "latin-1", "latin1", "us-ascii", "ascii"):
        return "cp1252"
    return wider.get(name, name)


def read_page(source: str) -> Page:
    """Return the visible text of a page, with its title first and with the targets of links."""
    sys.setrecursionlimit(_MAX_RECURSION)
    parser = html.HTMLParser(encoding="utf-8", no_network=True, huge_tree=True, remove_comments=True, remove_pis=True)
    # The text is encoded anew, because declarations in it would contradict its type.
    try:
        tree = html.document_fromstring(storable(source).encode(), parser=parser, ensure_head_body=True)
    except etree.ParserError:  # nothing but comments
        return Page("", 0, is_program=False)
    if any(error.type_name == "ERR_RESOURCE_LIMIT" for error in parser.error_log):
        raise Unreadable(Reason.TOO_DEMANDING)
    title = " ".join((tree.findtext(".//title") or "").split())
    scripts = [script.text or "" for script in tree.iter("script") if script.get("type", "") in _PROGRAM_TYPES]
    # A page of a site has scripts and styles beside it; a program of one file loads at most libraries.
    parts = tree.xpath("//script/@src | //link[@rel='stylesheet']/@href")
    has_parts = any("://" not in part for part in parts)
    pictures = sum(1 for image in tree.iter("img") if (image.get("width"), image.get("height")) != ("1", "1"))
    for element in tree.xpath("|".join(f"//{name.strip()}" for name in _UNSEEN.split("|"))):
        element.drop_tree()
    for link in tree.iter("a"):
        target, shown = link.get("href") or "", " ".join(link.text_content().split())
        if not _TARGET.match(target) or target.removeprefix("mailto:") == shown or not shown:
            link.attrib.pop("href", None)
    text = _BLANK_LINES.sub("\n\n", Inscriptis(tree, _CONFIG).get_text()).strip("\n ")
    text = "\n".join(line.rstrip() for line in text.splitlines())
    is_template = _TEMPLATE_MARK.search(text) is not None or re.search(r"<\?(?:php|=)|<%", source) is not None
    is_program = is_template or (not has_parts and _outweigh(scripts, text))
    if title and title not in text[: len(title) + 200]:
        text = f"{title}\n\n{text}".strip()
    return Page(text, pictures, is_program)


def _outweigh(scripts: list[str], text: str) -> bool:
    """Return whether a page is mostly a program that its author wrote into it; machines write long lines."""
    code = "\n".join(scripts)
    lines = [line for line in code.splitlines() if line.strip()]
    return (
        len(lines) >= MIN_PROGRAM_LINES and len(code) > max(len(text), 1) and len(code) / len(lines) < MAX_PROGRAM_LINE
    )
