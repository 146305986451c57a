"""Extract the texts of ODT, ODS, ODP and ODG, also flat ones. No Django: only the guarded child process uses it."""

import re
import zipfile
from collections import Counter

from lxml import etree

from common.text.storable import storable
from uploads.reading.archives import MAX_XML_BYTES, READER, Archive, local_name, parser_events
from uploads.reading.findings import MAX_CHARACTERS, Note, NoteKind, Reason, Text, Unreadable
from uploads.reading.kinds import ZIP

MAX_PAGES = 1_000
MAX_REPEATED_BLANKS = 1_000
_PARAGRAPHS = ("p", "h")
_HEADERS = ("header", "footer", "header-first", "footer-first", "header-left", "footer-left")
# Elements without text of the document.
_UNREAD = ("tracked-changes", "note-citation", "binary-data", "forms", "event-listeners")
_BLANKS = re.compile(r"[ \t\r\n]+")
_NAMESPACE = "{urn:oasis:names:tc:opendocument:xmlns:"
_OFFICE, _TABLE, _TEXT, _STYLE = (f"{_NAMESPACE}{name}:1.0}}" for name in ("office", "table", "text", "style"))
_HREF = "{http://www.w3.org/1999/xlink}href"


def extract_text(content: bytes) -> Text:
    """Return a document's text, or that of each sheet or slide. Raises Unreadable; any other exception means damage."""
    reading = _Reading()
    try:
        if content.startswith(ZIP):
            _read_archive(Archive(content), reading)
        elif len(content) > MAX_XML_BYTES:
            raise Unreadable(Reason.TOO_DEMANDING)
        else:
            reading.read(content)
    except (zipfile.BadZipFile, etree.XMLSyntaxError, KeyError) as error:
        raise Unreadable(Reason.DAMAGED) from error
    pages = [page for page in (storable("\n".join(lines)).strip("\n") for lines in reading.finished()) if page.strip()]
    if not pages:
        raise Unreadable(Reason.NO_TEXT)
    return Text(pages, READER, [Note(kind, reading.found[kind]) for kind in NoteKind if reading.found[kind]])


def _read_archive(archive: Archive, reading: "_Reading") -> None:
    manifest = archive.part("META-INF/manifest.xml") if "META-INF/manifest.xml" in archive else b""
    if b"encryption-data" in manifest:
        raise Unreadable(Reason.ENCRYPTED)
    has_macros = any(name.startswith(("Basic/", "Scripts/")) for name in archive.names)
    reading.found[NoteKind.MACROS_LEFT_OUT] = int(has_macros)
    if "styles.xml" in archive:
        reading.read(archive.part("styles.xml"))
    reading.read(archive.part("content.xml"))


class _Reading:
    """Pages of lines; a table's row is one line with tabs between its cells."""

    def __init__(self) -> None:
        self.found: Counter[NoteKind] = Counter()
        self._pages: list[list[str]] = [[]]
        self._margins: dict[str, list[str]] = {"header": [], "footer": []}
        self._after: list[str] = []  # footnotes and comments of the page
        self._hidden: set[str] = set()
        self._characters = 0
        self._blank_rows = 0
        self._is_sheet = False

    def finished(self) -> list[list[str]]:
        self._end_page()
        headers, footers = (list(dict.fromkeys(lines)) for lines in self._margins.values())
        self._pages[0][:0] = headers
        self._pages[-1] += footers
        return self._pages

    def read(self, xml: bytes) -> None:
        """Read a part or a flat document: headers and footers of styles, and the body."""
        open_names: list[str] = []
        for event, element in parser_events(xml):
            name = local_name(element)
            if event == "start":
                open_names.append(name)
                self._start(element, name, open_names)
                continue
            open_names.pop()
            is_outermost = not any(outer in ("p", "h", "table-row", *_UNREAD) for outer in open_names)
            if is_outermost and name in ("p", "h", "table-row", "tracked-changes"):
                self._read_block(element, name, open_names)
                element.clear()
            elif name == "style" and self._is_hidden(element):
                self._hidden.add(element.get(f"{_STYLE}name", ""))

    def _start(self, element: "etree._Element", name: str, open_names: list[str]) -> None:
        is_sheet = name == "table" and open_names[-2:-1] == ["spreadsheet"]
        if is_sheet or (name == "page" and open_names[-2:-1] in (["presentation"], ["drawing"])):
            self._end_page()
            self._is_sheet = is_sheet
            if len(self._pages) > MAX_PAGES:
                raise Unreadable(Reason.TOO_MANY_PAGES)
            self._pages.append([element.get(f"{_TABLE}name", "")] if is_sheet else [])
            style = next((value for key, value in element.items() if local_part(key) == "style-name"), "")
            kind = NoteKind.HIDDEN_SHEETS if is_sheet else NoteKind.HIDDEN_SLIDES
            self.found[kind] += int(style in self._hidden)
        elif name in ("image", "object", "object-ole", "plugin", "section-source", "dde-source"):
            self._count(element, name, open_names)

    def _count(self, element: "etree._Element", name: str, open_names: list[str]) -> None:
        if "body" not in open_names:
            return
        frame = element.getparent()
        is_preview = name == "image" and frame is not None and any("object" in local_name(other) for other in frame)
        if (element.get(_HREF) or "").startswith(("http:", "https:", "file:", "../", "ftp:")) or name == "dde-source":
            self.found[NoteKind.LINKS_NOT_FOLLOWED] += 1
        elif name == "image" and not is_preview:
            self.found[NoteKind.PICTURES_LEFT_OUT] += 1
        elif name in ("object", "object-ole", "plugin"):
            self.found[NoteKind.OBJECTS_LEFT_OUT] += 1

    def _is_hidden(self, style: "etree._Element") -> bool:
        values = {local_part(key): value for child in style for key, value in child.items()}
        is_table = style.get(f"{_STYLE}family") == "table"
        return (is_table and values.get("display") == "false") or values.get("visibility") == "hidden"

    def _end_page(self) -> None:
        lines = self._pages[-1]
        if self._is_sheet and len(lines) == 1 and not self._after:
            lines.clear()  # the name of an empty sheet
        lines += self._after
        self._after, self._blank_rows = [], 0

    def _read_block(self, element: "etree._Element", name: str, open_names: list[str]) -> None:
        if name == "tracked-changes":
            self.found[NoteKind.DELETIONS_LEFT_OUT] += sum(1 for _ in element.iter(f"{_TEXT}deletion"))
        elif name == "table-row" and "spreadsheet" in open_names:
            self._read_row(element)
        elif "body" in open_names:
            lines = self._paragraph(element) if name in _PARAGRAPHS else ["\t".join(self._cells(element))]
            self._add(lines)
        elif margin := next((outer for outer in open_names if outer in _HEADERS), ""):
            lines = [line for line in self._paragraph(element) if any(sign.isalpha() for sign in line)]
            self._margins[margin.partition("-")[0]] += lines

    def _add(self, lines: list[str], repeated: int = 1) -> None:
        self._characters += repeated * sum(len(line) + 1 for line in lines)
        if self._characters > MAX_CHARACTERS:
            raise Unreadable(Reason.TOO_LONG)
        self._pages[-1] += lines * repeated

    def _read_row(self, row: "etree._Element") -> None:
        """Add a sheet's row as often as it is repeated; rows without values are one empty line, if others follow."""
        values: list[str] = []
        blanks = 0
        for cell in row:
            if local_name(cell) not in ("table-cell", "covered-table-cell"):
                continue
            value, repeated = self._value(cell), _number(cell, f"{_TABLE}number-columns-repeated")
            if not value:
                blanks += min(repeated, MAX_REPEATED_BLANKS)
                continue
            if repeated * len(value) > MAX_CHARACTERS:
                raise Unreadable(Reason.TOO_LONG)
            values += [""] * blanks + [value] * repeated
            blanks = 0
        if not values:
            self._blank_rows = 1
            return
        if self._blank_rows and len(self._pages[-1]) > 1:
            self._add([""])
        self._blank_rows = 0
        self._add(["\t".join(values)], _number(row, f"{_TABLE}number-rows-repeated"))

    def _value(self, cell: "etree._Element") -> str:
        """Return a number or date as such, because a sheet shows it rounded; else the text."""
        kind = cell.get(f"{_OFFICE}value-type", "")
        key = f"{_OFFICE}date-value" if kind == "date" else f"{_OFFICE}value"
        value = cell.get(key) if kind in ("float", "currency", "percentage", "date") else None
        if value is not None and len(cell) <= 1:  # further elements are comments or pictures
            return str(value).removesuffix("T00:00:00")
        text = " ".join(" ".join(self._children(cell)).split())
        if value is not None:
            return str(value).removesuffix("T00:00:00")
        if not text and cell.get(f"{_TABLE}formula") and not kind:
            self.found[NoteKind.FORMULAS_WITHOUT_VALUE] += 1
        return text

    def _cells(self, row: "etree._Element") -> list[str]:
        cells = (cell for cell in row if local_name(cell) == "table-cell")
        return [" ".join(" ".join(self._children(cell)).split()) for cell in cells]

    def _children(self, element: "etree._Element") -> list[str]:
        """Return the lines of the paragraphs in an element."""
        lines: list[str] = []
        for child in element:
            name = local_name(child)
            if name in _PARAGRAPHS:
                lines += self._paragraph(child)
            elif name == "table-row":
                lines.append("\t".join(self._cells(child)))
            elif name == "annotation":
                self._comment(child)
            elif name not in _UNREAD:
                lines += self._children(child)
        return lines

    def _comment(self, annotation: "etree._Element") -> None:
        author = next((child.text for child in annotation if local_name(child) == "creator" and child.text), "")
        text = " ".join(" ".join(self._children(annotation)).split())
        self._after.append(f"[Comment{f' by {author}' if author else ''}: {text}]")

    def _paragraph(self, paragraph: "etree._Element") -> list[str]:
        """Return the lines of a paragraph, then those of boxes in it."""
        words: list[str] = []
        boxes: list[str] = []
        self._inline(paragraph, words, boxes)
        return ["".join(words), *boxes]

    def _inline(self, element: "etree._Element", words: list[str], boxes: list[str]) -> None:
        words.append(_collapsed(element.text))
        for child in element:
            match local_name(child):
                case "s":
                    words.append(" " * min(_number(child, f"{_TEXT}c"), MAX_REPEATED_BLANKS))
                case "tab":
                    words.append("\t")
                case "line-break":
                    words.append("\n")
                case "note":
                    self._after += [line for line in self._children(child) if line.strip()]
                case "annotation":
                    self._comment(child)
                case "frame" | "custom-shape" | "text-box" | "table" | "g" | "rect" | "ellipse":
                    boxes += [line for line in self._children(child) if line.strip()]
                case name if name not in _UNREAD and name:
                    self._inline(child, words, boxes)
            words.append(_collapsed(child.tail))


def local_part(key: object) -> str:
    return str(key).rpartition("}")[2]


def _collapsed(text: str | None) -> str:
    """Return text with runs of blanks as one: a document writes further ones as elements."""
    return _BLANKS.sub(" ", text or "")


def _number(element: "etree._Element", key: str) -> int:
    value = element.get(key, "1")
    return int(value) if value.isascii() and value.isdigit() and len(value) < 9 else 1
