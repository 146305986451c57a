"""Extract the texts of DOCX, XLSX and PPTX. No Django: only uploads.reading.child, the guarded process, calls it."""

# A package is a ZIP archive of parts, most of them XML, which relationships connect (ECMA-376, part 2).

import io
import posixpath
import zipfile
from collections.abc import Iterator
from importlib.metadata import version

import python_calamine
from lxml import etree

from common.text.storable import storable
from uploads.reading import sheets
from uploads.reading.findings import MAX_CHARACTERS, Note, NoteKind, Reason, Text, Unreadable
from uploads.reading.sniffing import OLE

MAX_PAGES = 1_000
MAX_PARTS = 10_000
# A million characters are at most a tenth of it as XML.
MAX_XML_BYTES = 40_000_000
READER = f"lxml-{etree.__version__}"
CELL_READER = f"python-calamine-{version('python-calamine')}"

_MAIN = "http://schemas.openxmlformats.org"
_STRICT = "http://purl.oclc.org/ooxml"
_NAMESPACES = (
    f"{_MAIN}/wordprocessingml/2006/main", f"{_STRICT}/wordprocessingml/main",
    f"{_MAIN}/drawingml/2006/main", f"{_STRICT}/drawingml/main",
)  # fmt: skip
_LOCAL_NAMES = ("t", "tab", "br", "cr", "p", "tr", "tc", "fld", "instrText")
_NAMES = {f"{{{namespace}}}{name}": name for namespace in _NAMESPACES for name in _LOCAL_NAMES}
# Repeats a shape for older programs.
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_RELATION_ID = (
    f"{{{_MAIN}/officeDocument/2006/relationships}}id", f"{{{_STRICT}/officeDocument/relationships}}id",
)  # fmt: skip
# Fields that load other files, or start programs, when a document is opened.
_LOADING_FIELDS = ("DDE", "DDEAUTO", "INCLUDETEXT", "INCLUDEPICTURE")


def extract_text(content: bytes) -> Text:
    """Return a document's text, or that of each sheet or slide. Raises Unreadable; any other exception means damage."""
    if content.startswith(OLE):  # an encrypted package: sniffing finds no other
        raise Unreadable(Reason.ENCRYPTED)
    try:
        package = _Package(zipfile.ZipFile(io.BytesIO(content)))
        pages, reader = _pages(package)
    except (zipfile.BadZipFile, etree.XMLSyntaxError, python_calamine.CalamineError, KeyError) as error:
        raise Unreadable(Reason.DAMAGED) from error
    except sheets.TooLarge as error:
        raise Unreadable(Reason.TOO_DEMANDING) from error
    if len(pages) > MAX_PAGES:
        raise Unreadable(Reason.TOO_MANY_PAGES)
    if not any(page.strip() for page in pages):
        raise Unreadable(Reason.NO_TEXT)
    hidden = package.hidden_sheets
    return Text(pages, reader, [Note(NoteKind.HIDDEN_SHEETS, len(hidden), ", ".join(hidden))] if hidden else [])


def _pages(package: "_Package") -> tuple[list[str], str]:
    main = package.related("", "officeDocument")[0]
    match main.partition("/")[0]:
        case "word":
            notes = [*package.related(main, "footnotes"), *package.related(main, "endnotes")]
            lines = (line for name in [main, *notes] for line in _lines(package.part(name)))
            return _limited(iter(["\n".join(lines)])), READER
        case "ppt":
            return _limited(_slide(package, name) for name in _slides(package, main)), READER
        case "xl":
            return _limited(_sheets(package)), CELL_READER
    raise Unreadable(Reason.DAMAGED)


def _limited(texts: Iterator[str]) -> list[str]:
    pages, characters = [], 0
    for text in texts:
        pages.append(storable(text).strip("\n"))
        characters += len(pages[-1])
        if characters > MAX_CHARACTERS:
            raise Unreadable(Reason.TOO_LONG)
    return pages


class _Package:
    """Parts of a package. Raises Unreadable if it is encrypted, has macros, loads other files, or is too large."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self.hidden_sheets: list[str] = []
        parts = archive.infolist()
        self._xml = [part for part in parts if part.filename.endswith((".xml", ".rels"))]
        others = sum(part.file_size for part in self._xml if not sheets.is_sheet_part(part.filename))
        if len(parts) > MAX_PARTS or others > MAX_XML_BYTES:
            raise Unreadable(Reason.TOO_DEMANDING)
        if any(part.flag_bits & 1 for part in parts):
            raise Unreadable(Reason.ENCRYPTED)
        names = [part.filename.lower() for part in parts]
        if len(set(names)) < len(names):  # readers would differ in the part they take
            raise Unreadable(Reason.DAMAGED)
        if any(name.endswith("vbaproject.bin") or "/macrosheets/" in name for name in names):
            raise Unreadable(Reason.MACROS)
        if b"macroenabled" in self.part("[Content_Types].xml").lower():
            raise Unreadable(Reason.MACROS)
        if any("/externallinks/" in name for name in names):
            raise Unreadable(Reason.EXTERNAL_LINKS)
        for part in self._xml:
            if part.filename.endswith(".rels"):
                self._refuse_external(part.filename)

    def _refuse_external(self, name: str) -> None:
        # A hyperlink loads nothing.
        for relation in _root(self.part(name)):
            is_external = relation.get("TargetMode", "").lower() == "external"
            if is_external and not relation.get("Type", "").endswith("/hyperlink"):
                raise Unreadable(Reason.EXTERNAL_LINKS)

    def part(self, name: str) -> bytes:
        """Return a part's content. Raises KeyError, and BadZipFile where it is longer than its header says."""
        return self._archive.read(name)

    def relations(self, part: str) -> list[tuple[str, str, str]]:
        """Return (id, last word of the type, target) of a part's relationships; "" is the package."""
        folder, name = posixpath.split(part)
        path = f"{folder}/_rels/{name}.rels" if part else "_rels/.rels"
        if path not in self._archive.NameToInfo:
            return []
        return [
            (relation.get("Id", ""), relation.get("Type", "").rpartition("/")[2], _absolute(folder, relation))
            for relation in _root(self.part(path))
        ]

    def related(self, part: str, kind: str) -> list[str]:
        return [target for _id, relation_type, target in self.relations(part) if relation_type == kind]

    def compacted(self) -> sheets.Compacted:
        """Return an uncompressed archive of the XML parts, its sheets without empty cells."""
        copy = sheets.Compacted()
        for part in self._xml:
            if sheets.is_sheet_part(part.filename):
                copy.add_sheet(self._archive, part.filename)
            else:
                copy.add(part.filename, self.part(part.filename))
        copy.close()
        return copy


def _absolute(folder: str, relation: "etree._Element") -> str:
    return posixpath.normpath(posixpath.join("/", folder, relation.get("Target", ""))).lstrip("/")


def _parser_events(xml: bytes) -> "Iterator[tuple[str, etree._Element]]":
    """Yield (event, element) of a part. Raises Unreadable for a document type, which could define entities."""
    events = etree.iterparse(
        io.BytesIO(xml), events=("start", "end"), resolve_entities=False, no_network=True, load_dtd=False,
        remove_comments=True, remove_pis=True,
    )  # fmt: skip
    for event, element in events:
        if event == "start" and element.getparent() is None and element.getroottree().docinfo.doctype:
            raise Unreadable(Reason.DAMAGED)
        yield event, element


def _root(xml: bytes) -> "etree._Element":
    root = None
    for _event, element in _parser_events(xml):
        root = element
    if root is None:
        raise Unreadable(Reason.DAMAGED)
    return root


def _lines(xml: bytes) -> list[str]:
    """Return the paragraphs of a part; a table's row is one line with tabs between its cells."""
    lines: list[list[str]] = [[]]  # of the part and of each open cell
    rows: list[list[str]] = []
    texts: list[list[str]] = [[]]  # of each open paragraph: text boxes have paragraphs in a paragraph
    ignored = 0
    for event, element in _parser_events(xml):
        name = _NAMES.get(element.tag)
        if name == "fld" or element.tag == _FALLBACK:  # a field is the number of a slide, or a date
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
            case "instrText" if (element.text or "").split()[:1] and element.text.split()[0].upper() in _LOADING_FIELDS:
                raise Unreadable(Reason.EXTERNAL_LINKS)
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


def _slides(package: _Package, main: str) -> list[str]:
    targets = {id: target for id, kind, target in package.relations(main) if kind == "slide"}
    order = [
        element.get(name)
        for event, element in _parser_events(package.part(main))
        for name in _RELATION_ID
        if event == "end" and etree.QName(element).localname == "sldId" and element.get(name)
    ]
    if len(order) > MAX_PAGES:
        raise Unreadable(Reason.TOO_MANY_PAGES)
    return [targets[id] for id in order if id is not None]


def _slide(package: _Package, name: str) -> str:
    """Return a slide's lines, then those of its speaker notes."""
    parts = [name, *package.related(name, "notesSlide")]
    return "\n".join(line for part in parts for line in _lines(package.part(part)) if line.strip())


def _sheets(package: _Package) -> Iterator[str]:
    """Yield each sheet that is not empty: its name, then its rows with tabs between the cells."""
    compacted = package.compacted()
    workbook = sheets.Workbook(compacted.file, compacted.row_numbers)
    package.hidden_sheets = workbook.hidden
    yield from sheet_texts(workbook)


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
