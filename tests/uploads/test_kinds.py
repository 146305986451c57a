"""Texts of kinds of files, and what is said to be left out of them."""

import json
from collections.abc import Callable

import pytest

from tests.uploads import hostile_kinds, kinds, offices, pictures
from uploads.errors import unsupported_message
from uploads.reading import kinds as types
from uploads.reading.child import read_document
from uploads.reading.findings import Note, NoteKind, Picture, Reason, Text, Unreadable
from uploads.reading.guard import read
from uploads.reading.pictures import prepare_picture
from uploads.reading.sniffing import detect_type

PICTURE, OBJECT = Note(NoteKind.PICTURES_LEFT_OUT, 1), Note(NoteKind.OBJECTS_LEFT_OUT, 1)
DELETION, MACROS = Note(NoteKind.DELETIONS_LEFT_OUT, 1), Note(NoteKind.MACROS_LEFT_OUT, 1)
MARKUP, SOURCE = Note(NoteKind.MARKUP_LEFT_OUT), Note(NoteKind.SOURCE_SENT)
SHAPES: dict[str, tuple[bytes, str, list[str], list[Note]]] = {
    "odt": (kinds.odt(), types.ODT, [f"Company\n{kinds.WRITTEN_TEXT}"], [PICTURE, OBJECT, DELETION, MACROS]),
    "flat odt": (kinds.flat_odt(), types.ODT, [f"Company\n{kinds.WRITTEN_TEXT}"], [PICTURE, OBJECT, DELETION]),
    "odt packed anew": (
        offices.package({"content.xml": kinds.open_document_body("<text:p>x</text:p>"), "META-INF/manifest.xml": ""}),
        types.ODT, ["x"], [],
    ),
    "ods": (
        kinds.ods(), types.ODS, ["Sums\nDay\tSum\n2023-03-15\t3.3333\n\nEnd", "Secret\ns"],
        [Note(NoteKind.HIDDEN_SHEETS, 1), Note(NoteKind.FORMULAS_WITHOUT_VALUE, 1)],
    ),
    "xls": (
        kinds.xls(), types.XLS, ["Sums\nDay\tStraße\n2023-03-15\t3.5", "Secret\nx"],
        [Note(NoteKind.HIDDEN_SHEETS, 1)],
    ),
    "odp": (kinds.odp(), types.ODP, ["First\nNotes", "Second\nNotes"], [Note(NoteKind.HIDDEN_SLIDES, 1)]),
    "epub": (kinds.epub(), types.EPUB, [kinds.BOOK], [Note(NoteKind.PARTS_UNREADABLE, 1, "c.xhtml"), PICTURE]),
    "rtf": (kinds.RTF, types.RTF, [kinds.RTF_TEXT], [PICTURE, DELETION]),
    "mail": (
        kinds.mail().as_bytes(), types.MAIL, [kinds.MAIL_TEXT],
        [Note(NoteKind.ATTACHMENTS_LEFT_OUT, 1, "Größe.pdf"), PICTURE],
    ),
    "mail in an odd charset": (kinds.ODD_MAIL, types.MAIL, ["From: a@example.org\nSubject: Grüße✓\n\nSchön hier"], []),
    "saved page": (kinds.SAVED_PAGE, types.MAIL, ["From: <Saved by Blink>\nSubject: A page\n\nCafé"], [PICTURE]),
    "mailbox": (
        kinds.MAILBOX, types.MAILBOX,
        [
            "From: a@example.org\nSubject: One\n\nFirst\nFrom here on\n\n---\n\n"
            "From: b@example.org\nSubject: Two\n\nSecond"
        ],
        [],
    ),
    "notebook": (
        kinds.notebook(), types.NOTEBOOK, [kinds.NOTEBOOK_TEXT],
        [Note(NoteKind.PICTURES_LEFT_OUT, 2), Note(NoteKind.OUTPUTS_LEFT_OUT, 1)],
    ),
    "mail of Apple": (
        b"43  \nFrom: a@example.org\nSubject: One\n\nFirst\n\xc3\xa9\n<?xml?><plist/>", types.MAIL,
        ["From: a@example.org\nSubject: One\n\nFirst\né"], [],
    ),
    "notebook with numbers that are none": (
        b'{"nbformat": 4, "cells": [{"cell_type": "code", "source": "x", "outputs": [{"data": '
        b'{"application/json": {"a": NaN}}}]}]}',
        types.NOTEBOOK, ["```python\nx\n```\n\nOutput:\n```\n{\"a\": NaN}\n```"], [],
    ),
    "notebook of version 3": (
        json.dumps({"nbformat": 3, "metadata": {}, "worksheets": [{"cells": [
            {"cell_type": "heading", "level": 2, "source": "Old"}, {"cell_type": "code", "input": "1", "outputs": []},
        ]}]}).encode(),
        types.NOTEBOOK, ["## Old\n\n```python\n1\n```"], [],
    ),
    "page": (kinds.PAGE, types.HTML, [kinds.PAGE_TEXT], [MARKUP, PICTURE]),
    "page in UTF-16": (kinds.PAGE.decode("latin-1").encode("utf-16"), types.HTML, [kinds.PAGE_TEXT], [MARKUP, PICTURE]),
    "program in a page": (kinds.PROGRAM.encode(), types.HTML, [kinds.PROGRAM], [SOURCE]),
    "template": (kinds.TEMPLATE.encode(), types.HTML, [kinds.TEMPLATE], [SOURCE]),
    "page without text": (kinds.SHELL.encode(), types.HTML, [kinds.SHELL], [SOURCE]),
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_text_of_kind_is_read_with_notes(name: str):
    content, media_type, pages, notes = SHAPES[name]
    assert detect_type(content, "file.bin") == (media_type, "document")
    text = read_document(content, media_type)
    assert isinstance(text, Text)
    assert (text.pages, text.notes) == (pages, notes)


@pytest.mark.processes
def test_kinds_are_read_in_guarded_child():
    content, media_type, pages, notes = SHAPES["mail"]
    text = read(content, "document", media_type)
    assert isinstance(text, Text)
    assert (text.pages, text.notes) == (pages, notes)


@pytest.mark.parametrize(
    ("text", "name", "media_type"),
    [
        ("# Page\n<html>\n<body>", "notes.md", "text/markdown"),
        ("<!DOCTYPE html><p>Hi</p>", "page.txt", "text/plain"),
        ("<!DOCTYPE html><p>Hi</p>", "page.xls", types.HTML),
        ("<div>Hi</div>", "part.html", types.HTML),
        ("<div>Hi</div>", "part.jsx", "text/plain"),
        ("<svg xmlns='http://www.w3.org/2000/svg'/>", "a.svg", "text/plain"),
        ("<?xml version='1.0'?><a/>", "a.xml", "text/plain"),
        ("BEGIN:VCARD\nFN:Ada", "a.vcf", "text/plain"),
        ("BEGIN:VCALENDAR\nSUMMARY:x", "a.ics", "text/plain"),
        (r"\documentclass{article}", "a.tex", "text/plain"),
        ("Subject: a plain note\nDate: today\n\nHi", "a.txt", "text/plain"),
        ("From here on\nall is text", "a.txt", "text/plain"),
        ('{"cells": []}', "a.json", "application/json"),
        ("MZ is no program\n", "a.txt", "text/plain"),
        ("BMW\n", "a.txt", "text/plain"),
        ("<!---->" * 2_000 + "x", "a.html", "text/plain"),
        ("From a " + "1:11" * 4_000, "a.txt", "text/plain"),
    ],
)
def test_texts_that_resemble_other_kinds_stay_texts(text: str, name: str, media_type: str):
    assert detect_type(text.encode(), name) == (media_type, "document")


@pytest.mark.parametrize(
    ("content", "name", "sentence"),
    [
        (kinds.zip_of("a.txt", "b/c.txt"), "a.zip", "This is an archive (ZIP). Upload the files in it."),
        (b"7z\xbc\xaf\x27\x1c" + bytes(100), "a.7z", "This is an archive (7z)."),
        (b"\x1f\x8b\x08" + bytes(100), "a.tar.gz", "This is an archive (gzip)."),
        (bytes(257) + b"ustar" + bytes(300), "a.tar", "This is an archive (TAR)."),
        (b"ID3\x04" + bytes(100), "a.mp3", "This is an audio file."),
        (b"RIFF\0\0\0\0WAVEfmt " + bytes(100), "a.wav", "This is an audio file."),
        (b"\0\0\0\x20ftypisom\0\0\x02\0isomiso2avc1mp41" + bytes(100), "a.mp4", "This is a video."),
        (b"\x1aE\xdf\xa3" + bytes(100), "a.webm", "This is a video."),
        (b"MZ\x90\0" + bytes(100), "a.exe", "This is a program."),
        (b"\x7fELF" + bytes(100), "a", "This is a program."),
        (b"SQLite format 3\0" + bytes(100), "a.db", "This is a database."),
        (kinds.ole("WordDocument"), "a.doc", "This file was saved by Word 97–2003 (DOC). Save it as DOCX and"),
        (kinds.ole("PowerPoint Document"), "a.ppt", "This file was saved by PowerPoint 97–2003 (PPT). Save it as PPTX"),
        (kinds.ole("__substg1.0_0037001F"), "a.msg", "This file was saved by Outlook (MSG). Save it as EML"),
        (kinds.zip_of("Index/Document.iwa"), "a.pages", "This format cannot be read here: Pages, Numbers / Keynote."),
        (bytes(60) + b"BOOKMOBI" + bytes(60), "a.mobi", "This format cannot be read here: Kindle. Export it as EPUB"),
        (kinds.epub(**{"META-INF__rights_xml": "x"}), "a.epub", "This book is protected against copying."),
        (b"8BPS\0\x01" + bytes(100), "a.psd", "This picture is in a format that cannot be read here: Photoshop (PSD)."),
        (b"\xff\x0a" + bytes(100), "a.jxl", "This picture is in a format that cannot be read here: JPEG XL."),
        (kinds.grey_tiff(), "a.nef", "This picture is in a format that cannot be read here: RAW."),
    ],
)  # fmt: skip
def test_other_kinds_are_refused_by_name(content: bytes, name: str, sentence: str):
    assert detect_type(content, name) is None
    assert unsupported_message(types.name_unsupported(content, name)).startswith(sentence)


def test_heic_is_named_where_its_reader_is_missing(monkeypatch):
    assert detect_type(kinds.heic(), "IMG_1.HEIC") == ("image/heic", "image")
    monkeypatch.setattr(types, "READS_HEIC", False)
    assert detect_type(kinds.heic(), "IMG_1.HEIC") is None
    sentence = "This picture is in HEIC, the format of some phones. Export it as JPEG and upload that."
    assert unsupported_message(types.name_unsupported(kinds.heic(), "")) == sentence


@pytest.mark.parametrize(
    ("content", "media_type", "colour", "more"),
    [
        (kinds.heic(), "image/heic", (255, 0, 0), 0),
        (pictures.picture("AVIF"), "image/avif", (255, 0, 0), 0),
        (pictures.picture("BMP"), "image/bmp", (255, 0, 0), 0),
        (pictures.picture("ICO", width=40, height=40, sizes=[(16, 16), (40, 40)]), "image/x-icon", (255, 0, 0), 0),
        (pictures.picture("JPEG2000"), "image/jp2", (255, 0, 0), 0),
        (pictures.picture("TIFF", compression="jpeg"), "image/tiff", (255, 0, 0), 0),
        (kinds.pages_tiff(), "image/tiff", (255, 0, 0), 2),
        (kinds.two_pictures(), "image/jpeg", (255, 0, 0), 1),
        (kinds.grey_tiff(), "image/tiff", (128, 128, 128), 0),
        (kinds.picture_with_profile(), "image/jpeg", (255, 255, 255), 0),
    ],
)
def test_colours_of_picture_kinds_are_kept(content: bytes, media_type: str, colour: tuple[int, ...], more: int):
    assert detect_type(content, "file.bin") == (media_type, "image")
    picture = prepare_picture(content)
    shown = pictures.opened(picture.content).convert("RGB")
    pixel = shown.getpixel((shown.width // 2, shown.height // 2))
    assert isinstance(pixel, tuple)
    assert all(abs(value - expected) <= 6 for value, expected in zip(pixel, colour, strict=True)), pixel
    assert picture.notes == ([Note(NoteKind.FRAMES_LEFT_OUT, more)] if more else [])


@pytest.mark.parametrize(
    ("make_picture", "reason"),
    [
        (hostile_kinds.tiff_that_claims, Reason.TOO_MANY_PIXELS),
        (hostile_kinds.bmp_that_claims, Reason.TOO_MANY_PIXELS),
        (hostile_kinds.jpeg2000_that_claims, Reason.TOO_MANY_PIXELS),
        (hostile_kinds.avif_that_claims, Reason.TOO_MANY_PIXELS),
    ],
)
def test_huge_picture_of_any_kind_is_refused(make_picture: Callable[[int, int], bytes], reason: Reason):
    with pytest.raises(Unreadable) as refused:
        prepare_picture(make_picture(6_000, 5_000))
    assert refused.value.reason == reason


def test_tiff_that_repeats_itself_ends():
    assert isinstance(prepare_picture(hostile_kinds.tiff_in_a_circle()), Picture)
