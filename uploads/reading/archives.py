"""Parts of documents that are ZIP archives, and events of their XML. No Django: only the guarded child uses it."""

import io
import posixpath
import re
import zipfile
from collections.abc import Iterator
from urllib.parse import unquote

from lxml import etree

from uploads.reading import sheets
from uploads.reading.findings import Reason, Unreadable

MAX_PARTS = 10_000
# A million characters are at most a tenth of it as XML.
MAX_XML_BYTES = 40_000_000
READER = f"lxml-{etree.__version__}"
# Parts that are read; pictures and other parts are never unpacked.
_READ = re.compile(
    r"\.(?:xml|rels|x?html?|opf)$|^xl/(?:workbook|sharedStrings|styles|worksheets/[^/]+)\.bin$", re.IGNORECASE
)


class Archive:
    """Parts of a document. Raises Unreadable if it is encrypted, has a part twice, or is too large."""

    def __init__(self, content: bytes) -> None:
        self._archive = zipfile.ZipFile(io.BytesIO(content))
        parts = self._archive.infolist()
        self.names = [part.filename for part in parts]
        self._readable = [part for part in parts if _READ.search(part.filename)]
        unpacked = sum(part.file_size for part in self._readable if not sheets.is_sheet_part(part.filename))
        if len(parts) > MAX_PARTS or unpacked > MAX_XML_BYTES:
            raise Unreadable(Reason.TOO_DEMANDING)
        if any(part.flag_bits & 1 for part in parts):
            raise Unreadable(Reason.ENCRYPTED)
        if len({name.lower() for name in self.names}) < len(parts):  # readers would differ in the part they take
            raise Unreadable(Reason.DAMAGED)

    def part(self, name: str) -> bytes:
        """Return a part's content. Raises KeyError, and BadZipFile where it is longer than its header says."""
        part = self._archive.getinfo(name)
        if part not in self._readable and part.file_size > MAX_XML_BYTES:
            raise Unreadable(Reason.TOO_DEMANDING)
        return self._archive.read(part)

    def __contains__(self, name: str) -> bool:
        return name in self._archive.NameToInfo

    def relations(self, part: str) -> list[tuple[str, str, str]]:
        """Return (id, last word of the type, target) of an Office part's relationships; "" is the package."""
        folder, name = posixpath.split(part)
        path = f"{folder}/_rels/{name}.rels".lstrip("/") if part else "_rels/.rels"
        if path not in self:
            return []
        return [
            (relation.get("Id", ""), relation.get("Type", "").rpartition("/")[2], _absolute(folder, relation))
            for relation in xml_root(self.part(path))
        ]

    def related(self, part: str, kind: str) -> list[str]:
        return [target for _id, relation_type, target in self.relations(part) if relation_type == kind]

    def compacted(self) -> sheets.Compacted:
        """Return an uncompressed archive of the parts that are read, sheets without empty cells. Raises TooLarge."""
        copy = sheets.Compacted()
        for part in self._readable:
            if sheets.is_sheet_part(part.filename):
                copy.add_sheet(self._archive, part.filename)
            else:
                copy.add(part.filename, self.part(part.filename))
        copy.close()
        return copy


def _absolute(folder: str, relation: "etree._Element") -> str:
    return posixpath.normpath(posixpath.join("/", folder, unquote(relation.get("Target", "")))).lstrip("/")


def parser_events(xml: bytes, *, may_have_type: bool = False) -> "Iterator[tuple[str, etree._Element]]":
    """Yield (event, element) of a part. Raises Unreadable for a document type, which could define entities."""
    events = etree.iterparse(
        io.BytesIO(xml), events=("start", "end"), resolve_entities=False, no_network=True, load_dtd=False,
        remove_comments=True, remove_pis=True,
    )  # fmt: skip
    for event, element in events:
        is_root = event == "start" and element.getparent() is None
        if is_root and not may_have_type and element.getroottree().docinfo.doctype:
            raise Unreadable(Reason.DAMAGED)
        yield event, element


def xml_root(xml: bytes, *, may_have_type: bool = False) -> "etree._Element":
    root = None
    for _event, element in parser_events(xml, may_have_type=may_have_type):
        root = element
    if root is None:
        raise Unreadable(Reason.DAMAGED)
    return root


def local_name(element: "etree._Element") -> str:
    """Return an element's name without its namespace; "" for comments and entities."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
