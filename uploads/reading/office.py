"""Extract the texts of DOCX, XLSX, XLS and PPTX. No Django: only the guarded child process uses it."""

# A package is a ZIP archive of parts, most of them XML, which relationships connect (ECMA-376, part 2).

import io
import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import version

import python_calamine
from lxml import etree

from common.text.storable import storable
from uploads.reading import sheets
from uploads.reading.archives import READER, Archive, parser_events, xml_root
from uploads.reading.findings import MAX_CHARACTERS, Note, NoteKind, Reason, Text, Unreadable
from uploads.reading.kinds import ENCRYPTED_PACKAGE, OLE

MAX_PAGES = 1_000
CELL_READER = f"python-calamine-{version('python-calamine')}"

_MAIN = "http://schemas.openxmlformats.org"
_STRICT = "http://purl.oclc.org/ooxml"
_NAMESPACES = (
    f"{_MAIN}/wordprocessingml/2006/main", f"{_STRICT}/wordprocessingml/main",
    f"{_MAIN}/drawingml/2006/main", f"{_STRICT}/drawingml/main",
)  # fmt: skip
_LOCAL_NAMES = (
    "t", "tab", "br", "cr", "p", "tr", "tc", "fld", "instrText", "noBreakHyphen", "moveFrom", "del",
)  # fmt: skip
_NAMES = {f"{{{namespace}}}{name}": name for namespace in _NAMESPACES for name in _LOCAL_NAMES} | {
    f"{{{_MAIN}/officeDocument/2006/math}}t": "t", f"{{{_STRICT}/officeDocument/math}}t": "t",
}  # fmt: skip
# Repeats a shape for older programs.
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_RELATION_ID = (
    f"{{{_MAIN}/officeDocument/2006/relationships}}id", f"{{{_STRICT}/officeDocument/relationships}}id",
)  # fmt: skip
# Fields that load other files, or start programs, when a document is opened in Word.
_LOADING_FIELDS = ("DDE", "DDEAUTO", "INCLUDETEXT", "INCLUDEPICTURE")
# Kinds of notes by the last word of a relationship's type.
_LEFT_OUT = {
    "image": NoteKind.PICTURES_LEFT_OUT, "chart": NoteKind.CHARTS_LEFT_OUT, "chartEx": NoteKind.CHARTS_LEFT_OUT,
    "oleObject": NoteKind.OBJECTS_LEFT_OUT, "package": NoteKind.OBJECTS_LEFT_OUT,
    "media": NoteKind.OBJECTS_LEFT_OUT, "aFChunk": NoteKind.OBJECTS_LEFT_OUT,
}  # fmt: skip
# Their pictures are decoration; a chart's workbook has the numbers of the chart.
_DECORATION = re.compile(r"(?:slideMasters|slideLayouts|notesMasters|handoutMasters|theme|charts)/_rels/|^_rels/")
_VALUELESS_FORMULA = re.compile(
    rb"(?:</(?:\w+:)?f>|<(?:\w+:)?f\b[^<>]*/>)\s*(?:<(?:\w+:)?v\s*/>|<v></v>)?\s*</(?:\w+:)?c>"
)
_HIDDEN_SLIDE = re.compile(rb"<(?:\w+:)?sld\b[^<>]*\bshow=[\"'](?:0|false)[\"']")


def extract_text(content: bytes) -> Text:
    """Return a document's text, or that of each sheet or slide. Raises Unreadable; any other exception means damage."""
    try:
        if content.startswith(OLE):
            found: Counter[NoteKind] = Counter()
            pages, reader = _old_workbook(content, found), CELL_READER
        else:
            package = Archive(content)
            found = _count_left_out(package)
            pages, reader = _pages(package, found)
    except python_calamine.PasswordError as error:
        raise Unreadable(Reason.ENCRYPTED) from error
    except (zipfile.BadZipFile, etree.XMLSyntaxError, python_calamine.CalamineError, KeyError) as error:
        raise Unreadable(Reason.DAMAGED) from error
    except sheets.TooLarge as error:
        raise Unreadable(Reason.TOO_DEMANDING) from error
    if len(pages) > MAX_PAGES:
        raise Unreadable(Reason.TOO_MANY_PAGES)
    if not any(page.strip() for page in pages):
        raise Unreadable(Reason.NO_TEXT)
    return Text(pages, reader, [Note(kind, found[kind]) for kind in NoteKind if found[kind]])


def _old_workbook(content: bytes, found: Counter[NoteKind]) -> list[str]:
    if ENCRYPTED_PACKAGE in content:
        raise Unreadable(Reason.ENCRYPTED)
    workbook = sheets.Workbook(io.BytesIO(content))
    found[NoteKind.HIDDEN_SHEETS] = len(workbook.hidden)
    return _limited(sheet_texts(workbook))


def _pages(package: Archive, found: Counter[NoteKind]) -> tuple[list[str], str]:
    main = package.related("", "officeDocument")[0]
    match main.partition("/")[0]:
        case "word":
            return _limited(iter(["\n".join(_document(package, main, found))])), READER
        case "ppt":
            return _limited(_slide(package, name, found) for name in _slides(package, main)), READER
        case "xl":
            return _limited(_sheets_and_comments(package, found)), CELL_READER
    raise Unreadable(Reason.DAMAGED)


def _count_left_out(package: Archive) -> Counter[NoteKind]:
    """Count what is not text. Nothing runs or loads here, so files with macros and links are read without them."""
    found: Counter[NoteKind] = Counter()
    has_macros = any(name.lower().endswith("vbaproject.bin") for name in package.names)
    found[NoteKind.MACROS_LEFT_OUT] = int(has_macros)
    for name in package.names:
        if not name.endswith(".rels"):
            continue
        for relation in xml_root(package.part(name)):
            kind = relation.get("Type", "").rpartition("/")[2]
            if kind == "hyperlink":
                continue
            if relation.get("TargetMode", "").lower() == "external":
                found[NoteKind.LINKS_NOT_FOLLOWED] += 1
            elif kind in _LEFT_OUT and not _DECORATION.search(name):
                found[_LEFT_OUT[kind]] += 1
    return found


def _document(package: Archive, main: str, found: Counter[NoteKind]) -> Iterator[str]:
    """Yield the lines of a document: headers, text, footnotes, footers, comments."""
    yield from _margins(package, main, "header")
    yield from _lines(package.part(main), found)
    for kind in ("footnotes", "endnotes"):
        for name in package.related(main, kind):
            yield from _lines(package.part(name), found)
    yield from _diagrams(package, main)
    yield from _margins(package, main, "footer")
    yield from _comments(package, main)


def _margins(package: Archive, main: str, kind: str) -> list[str]:
    """Return the lines of headers or footers, each once; page numbers are none."""
    lines = (line for name in package.related(main, kind) for line in _lines(package.part(name)))
    return list(dict.fromkeys(line for line in lines if any(sign.isalpha() for sign in line)))


def _diagrams(package: Archive, part: str) -> list[str]:
    names = package.related(part, "diagramData")
    return [line for name in names for line in _lines(package.part(name)) if line.strip()]


def _comments(package: Archive, part: str) -> list[str]:
    """Return the comments on a document, sheet or slide, a line each with its author."""
    lines = []
    relations = package.relations(part)
    # Excel repeats the comments of a thread for older versions.
    wanted = "threadedComment" if any(kind == "threadedComment" for _id, kind, _name in relations) else "comments"
    for _id, kind, name in relations:
        if kind == wanted:
            for element in xml_root(package.part(name)).iter("{*}comment", "{*}cm", "{*}threadedComment"):
                author = next((value for key, value in element.items() if etree.QName(key).localname == "author"), "")
                text = "".join(part.text or "" for part in element.iter("{*}t", "{*}text"))
                lines.append(f"[Comment{f' by {author}' if author and not author.isdigit() else ''}: {text.strip()}]")
    return lines


def _limited(texts: Iterator[str]) -> list[str]:
    pages, characters = [], 0
    for text in texts:
        pages.append(storable(text).strip("\n"))
        characters += len(pages[-1])
        if characters > MAX_CHARACTERS:
            raise Unreadable(Reason.TOO_LONG)
    return pages


def _lines(xml: bytes, found: Counter[NoteKind] | None = None) -> list[str]:
    """Return the paragraphs of a part; a table's row is one line with tabs between its cells."""
    found = Counter() if found is None else found
    lines: list[list[str]] = [[]]  # of the part and of each open cell
    rows: list[list[str]] = []
    texts: list[list[str]] = [[]]  # of each open paragraph: text boxes have paragraphs in a paragraph
    ignored = 0
    for event, element in parser_events(xml):
        name = _NAMES.get(element.tag)
        # A field is the number of a slide, or a date; moved text is read where it is now.
        if name in ("fld", "moveFrom") or element.tag == _FALLBACK:
            ignored += 1 if event == "start" else -1
        if event == "start":
            match name:
                case "p":
                    texts.append([])
                case "tr":
                    rows.append([])
                case "tc":
                    lines.append([])
            continue
        match name:
            case "t" if not ignored:
                texts[-1].append(element.text or "")
            case "tab" if not ignored and _is_in_run(element):
                texts[-1].append("\t")
            case "br" | "cr" if not ignored:
                texts[-1].append("\n")
            case "noBreakHyphen" if not ignored:
                texts[-1].append("\u2011")
            case "del" if len(element):  # without children it is a mark of a paragraph
                found[NoteKind.DELETIONS_LEFT_OUT] += 1
            case "instrText" if (element.text or "").split()[:1] and element.text.split()[0].upper() in _LOADING_FIELDS:
                found[NoteKind.LINKS_NOT_FOLLOWED] += 1
            case "p":
                paragraph = "".join(texts.pop())
                lines[-1] += [] if ignored else [paragraph]
            case "tc":
                cell = " ".join(line for line in lines.pop() if line.strip())
                (rows[-1] if rows else lines[-1]).append(cell.replace("\n", " "))
            case "tr":
                lines[-1].append("\t".join(rows.pop()))
        element.clear()
    return lines[0]


def _is_in_run(element: "etree._Element") -> bool:
    """Return whether a tab is text: stops have the same name."""
    parent = element.getparent()
    return parent is not None and etree.QName(parent).localname == "r"


def _slides(package: Archive, main: str) -> list[str]:
    targets = {id: target for id, kind, target in package.relations(main) if kind == "slide"}
    order = [
        element.get(name)
        for event, element in parser_events(package.part(main))
        for name in _RELATION_ID
        if event == "end" and etree.QName(element).localname == "sldId" and element.get(name)
    ]
    if len(order) > MAX_PAGES:
        raise Unreadable(Reason.TOO_MANY_PAGES)
    return [targets[id] for id in order if id is not None]


def _slide(package: Archive, name: str, found: Counter[NoteKind]) -> str:
    """Return a slide's lines, then those of its diagrams, speaker notes and comments."""
    xml = package.part(name)
    found[NoteKind.HIDDEN_SLIDES] += len(_HIDDEN_SLIDE.findall(xml))
    notes = [line for part in package.related(name, "notesSlide") for line in _lines(package.part(part))]
    lines = [*_lines(xml), *_diagrams(package, name), *notes, *_comments(package, name)]
    return "\n".join(line for line in lines if line.strip())


def _sheets_and_comments(package: Archive, found: Counter[NoteKind]) -> Iterator[str]:
    copy = package.compacted()
    names = [name for name in package.names if sheets.is_sheet_part(name)]
    with zipfile.ZipFile(copy.file) as archive:
        for name in names:
            found[NoteKind.FORMULAS_WITHOUT_VALUE] += len(_VALUELESS_FORMULA.findall(archive.read(name)))
    copy.file.seek(0)
    workbook = sheets.Workbook(copy.file, copy.row_numbers)
    found[NoteKind.HIDDEN_SHEETS] = len(workbook.hidden)
    yield from sheet_texts(workbook)
    comments = [line for name in names for line in [*_comments(package, name), *_drawn_texts(package, name)]]
    if comments:
        yield "\n".join(comments)


def _drawn_texts(package: Archive, sheet: str) -> list[str]:
    """Return the lines of text boxes on a sheet."""
    names = package.related(sheet, "drawing")
    return [line for name in names for line in _lines(package.part(name)) if line.strip()]


def sheet_texts(workbook: sheets.Workbook) -> Iterator[str]:
    """Yield each sheet that is not empty: its name, then its rows; a blank line stands for empty ones."""
    if len(workbook.names) > MAX_PAGES:
        raise Unreadable(Reason.TOO_MANY_PAGES)
    for name in workbook.names:
        lines = [name]
        characters, before = 0, 0
        for number, cells in workbook.rows(name):
            lines += [""] if before and number > before + 1 else []
            lines.append("\t".join(map(_cell, cells)).rstrip("\t"))
            before, characters = number, characters + len(lines[-1])
            if characters > MAX_CHARACTERS:
                raise Unreadable(Reason.TOO_LONG)
        if before:
            yield "\n".join(lines)


def _cell(value: object) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return " ".join(str(value).splitlines())
