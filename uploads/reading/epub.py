"""Extract the text of books in EPUB. No Django: only the guarded child process uses it (uploads.reading.child)."""

import posixpath
import zipfile
from urllib.parse import unquote, urlsplit

from lxml import etree

from common.text.storable import storable
from uploads.reading.archives import Archive, xml_root
from uploads.reading.findings import MAX_CHARACTERS, Note, NoteKind, Reason, Text, Unreadable
from uploads.reading.markup import READER, decode, read_page

MAX_NAMED = 5
# These only hide fonts from being copied out of a book.
_FONT_ALGORITHMS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")


def extract_text(content: bytes) -> Text:
    """Return title, authors and chapters in reading order. Raises Unreadable; any other exception means damage."""
    try:
        archive = Archive(content)
        _refuse_encrypted(archive)
        return _read_book(archive)
    except (zipfile.BadZipFile, etree.XMLSyntaxError, KeyError) as error:
        raise Unreadable(Reason.DAMAGED) from error


def _refuse_encrypted(archive: Archive) -> None:
    name = "META-INF/encryption.xml"
    methods = xml_root(archive.part(name)).iter("{*}EncryptionMethod") if name in archive else ()
    if any(method.get("Algorithm") not in _FONT_ALGORITHMS for method in methods):
        raise Unreadable(Reason.ENCRYPTED)


def _read_book(archive: Archive) -> Text:
    container = xml_root(archive.part("META-INF/container.xml"))
    path = next(container.iter("{*}rootfile")).get("full-path", "")
    package = xml_root(archive.part(path), may_have_type=True)
    names = ("title", "creator")
    parts = [", ".join(_texts(package, f"{{http://purl.org/dc/elements/1.1/}}{name}")) for name in names]
    parts = [part for part in parts if part]
    unread: list[str] = []
    characters = 0
    for chapter in _chapters(package, posixpath.dirname(path)):
        try:
            text = read_page(decode(archive.part(chapter))).text
        except (KeyError, zipfile.BadZipFile):
            unread.append(posixpath.basename(chapter))
            continue
        characters += len(text)
        if characters > MAX_CHARACTERS:
            raise Unreadable(Reason.TOO_LONG)
        parts += [text] if text.strip() else []
    if not characters:
        raise Unreadable(Reason.DAMAGED if unread else Reason.NO_TEXT)
    pictures = sum(1 for item in package.iter("{*}item") if item.get("media-type", "").startswith("image/"))
    notes = [
        *([Note(NoteKind.PARTS_UNREADABLE, len(unread), ", ".join(unread[:MAX_NAMED]))] if unread else []),
        *([Note(NoteKind.PICTURES_LEFT_OUT, pictures)] if pictures else []),
    ]
    return Text([storable("\n\n".join(parts))], READER, notes)


def _texts(package: "etree._Element", name: str) -> list[str]:
    return [" ".join((element.text or "").split()) for element in package.iter(name) if (element.text or "").strip()]


def _chapters(package: "etree._Element", folder: str) -> list[str]:
    """Return the names of the parts that the spine lists, in its order, each once."""
    items = {item.get("id"): item for item in package.iter("{*}item")}
    spine = [
        items[reference.get("idref")] for reference in package.iter("{*}itemref") if reference.get("idref") in items
    ]
    if not spine:
        spine = [item for item in items.values() if "html" in item.get("media-type", "")]
    links = (unquote(urlsplit(item.get("href", "")).path) for item in spine if "svg" not in item.get("media-type", ""))
    return list(dict.fromkeys(posixpath.normpath(posixpath.join(folder, link)) for link in links))
