"""Hostile files of the kinds in tests.uploads.kinds."""

import io
import struct
import zipfile

from tests.uploads import kinds, offices, pictures


def repeated_cells() -> bytes:
    row = (
        '<table:table-row table:number-rows-repeated="1000000"><table:table-cell table:number-columns-repeated="16000">'
        "<text:p>word</text:p></table:table-cell></table:table-row>"
    )
    return kinds.open_document("spreadsheet", f'<table:table table:name="A">{row * 3}</table:table>')


def repeated_rows() -> bytes:
    row = (
        '<table:table-row table:number-rows-repeated="99999999"><table:table-cell><text:p>word</text:p>'
        "</table:table-cell></table:table-row>"
    )
    return kinds.open_document("spreadsheet", f'<table:table table:name="A">{row}</table:table>')


def many_blanks() -> bytes:
    blanks = '<text:s text:c="99999999"/>' * 2_000
    return kinds.open_document("text", f"<text:p>{blanks}x</text:p>")


def open_document_bomb() -> bytes:
    return kinds.open_document("text", f"<text:p>{'0' * 50_000_000}</text:p>")


def open_document_entities() -> bytes:
    return _with_entities(f"<office:document-content {kinds.ODF}><office:body><office:text><text:p>&e9;</text:p>"
        "</office:text></office:body></office:document-content>")  # fmt: skip


def _with_entities(content: str) -> bytes:
    definitions = "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 10}">' for n in range(9))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("mimetype", kinds.OPEN_DOCUMENT + "text")
        archive.writestr("content.xml", f'<!DOCTYPE d [<!ENTITY e0 "ha">{definitions}]>{content}')
    return out.getvalue()


def deep_open_document() -> bytes:
    return kinds.open_document("text", "<text:p>" + "<text:span>" * 100_000 + "</text:span>" * 100_000 + "</text:p>")


def many_pages() -> bytes:
    return kinds.open_document("presentation", "<draw:page/>" * 2_000)


def protected_open_document() -> bytes:
    manifest = "<manifest><file-entry><encryption-data/></file-entry></manifest>"
    return _protected(manifest)


def _protected(manifest: str) -> bytes:
    return offices.package({
        "mimetype": kinds.OPEN_DOCUMENT + "text", "content.xml": "x" * 100, "META-INF/manifest.xml": manifest,
    })  # fmt: skip


def protected_book() -> bytes:
    methods = '<encryption><EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/></encryption>'
    return kinds.epub(**{"META-INF__encryption_xml": methods})


def book_bomb() -> bytes:
    return kinds.epub(**{"OEBPS__text__c.xhtml": "<html><body>" + "0" * 50_000_000 + "</body></html>"})


def book_of_entities() -> bytes:
    definitions = "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 10}">' for n in range(9))
    package = f'<!DOCTYPE package [<!ENTITY e0 "ha">{definitions}]><package><item id="&e9;" href="&e9;"/>&e9;</package>'
    return kinds.epub(**{"OEBPS__book.opf": package})


def deep_page() -> bytes:
    return b"<!DOCTYPE html><html><body>" + b"<div>" * 100_000 + b"x"


def tables_in_tables() -> bytes:
    return b"<!DOCTYPE html><html><body>" + b"<table><tr><td>x" * 900


def wide_tables() -> bytes:
    return b"<!DOCTYPE html><html><body><table>" + (b"<tr>" + b"<td>x" * 1_000) * 3_000


def long_page() -> bytes:
    return b"<!DOCTYPE html><html><body>" + b"<p>word word word word</p>" * 60_000


def deep_rtf() -> bytes:
    return b"{\\rtf1 " + b"{" * 500_000 + b"x"


def long_rtf() -> bytes:
    return b"{\\rtf1 " + b"word " * 300_000 + b"}"


def mail_of_mails() -> bytes:
    """Return a mail in a mail, and so on."""
    head = b"From: a@example.org\nSubject: x\nContent-Type: message/rfc822\n\n"
    return head * 2_000 + b"From: a@example.org\nSubject: x\n\nx"


def deep_parts() -> bytes:
    start = b"From: a@example.org\nSubject: x\n"
    return start + b"".join(
        b'Content-Type: multipart/mixed; boundary="%d"\n\n--%d\n' % (n, n) for n in range(5_000)
    )  # fmt: skip


def encoded_words() -> bytes:
    return b"From: a@example.org\nSubject: " + b"=?utf-8?q?=?=" * 200_000 + b"\n\nx"


def deep_notebook() -> bytes:
    return b'{"nbformat": 4, "cells": ' + b"[" * 1_000_000


def long_notebook() -> bytes:
    return b'{"nbformat": 4, "cells": [' + b'{"cell_type":"raw","source":"word word word"},' * 90_000 + b"{}]}"


def tiff_that_claims(width: int, height: int) -> bytes:
    """Return a TIFF of one strip, whose header claims this size."""
    tags = ((256, 4, width), (257, 4, height), (258, 3, 8), (259, 3, 1), (262, 3, 1), (273, 4, 8), (278, 4, height),
            (279, 4, 100))  # fmt: skip
    entries = b"".join(struct.pack("<HHII", tag, kind, 1, value) for tag, kind, value in tags)
    return b"II*\0" + struct.pack("<IH", 8, len(tags)) + entries + bytes(104)


def tiff_in_a_circle() -> bytes:
    """Return a TIFF whose second picture is its first."""
    content = bytearray(pictures.picture("TIFF"))
    first = int.from_bytes(content[4:8], "little")
    count = int.from_bytes(content[first : first + 2], "little")
    content[first + 2 + 12 * count : first + 6 + 12 * count] = content[4:8]
    return bytes(content)


def bmp_that_claims(width: int, height: int) -> bytes:
    content = bytearray(pictures.picture("BMP"))
    content[18:26] = struct.pack("<ii", width, height)
    return bytes(content)


def huge_heic() -> bytes:
    """Return a HEIC that claims 900 megapixels."""
    box = b"ispe" + bytes(4)
    return kinds.heic().replace(box + struct.pack(">II", 64, 64), box + struct.pack(">II", 30_000, 30_000))


def avif_that_claims(width: int, height: int) -> bytes:
    box = b"ispe" + bytes(4)
    return pictures.picture("AVIF").replace(box + struct.pack(">II", 40, 20), box + struct.pack(">II", width, height))


def jpeg2000_that_claims(width: int, height: int) -> bytes:
    known, claimed = (b"ihdr" + struct.pack(">II", *size) for size in ((20, 40), (height, width)))
    return pictures.picture("JPEG2000").replace(known, claimed)


HOSTILE = {
    make.__name__: make
    for make in (
        repeated_cells, repeated_rows, many_blanks, open_document_bomb, open_document_entities, deep_open_document,
        many_pages, protected_open_document, protected_book, book_bomb, book_of_entities, deep_page, tables_in_tables,
        wide_tables, long_page, deep_rtf, long_rtf, mail_of_mails, deep_parts,
        encoded_words, deep_notebook, long_notebook, huge_heic,
    )
}  # fmt: skip
