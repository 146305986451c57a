"""Hostile files are refused by the limited child process, and honest ones are read."""

import os
import signal
import subprocess
from collections.abc import Callable
from functools import partial

import msgspec
import pytest

from common.child_process.frames import pack
from common.child_process.process import ChildFailed
from tests import make
from tests.uploads import hostile_kinds, pdfs, pictures
from uploads import actions
from uploads.extraction import read_upload
from uploads.models import Upload
from uploads.reading import guard
from uploads.reading.findings import Note, NoteKind, Picture, Reason, Refusal, Text, Unreadable
from uploads.reading.guard import read
from uploads.reading.pages import Page
from uploads.reading.sniffing import detect_type

pytestmark = pytest.mark.processes

REASONS = {
    "many_operators": Reason.TOO_DEMANDING,
    "deep_arrays": Reason.NO_TEXT,
    "deep_objects": Reason.DAMAGED,
    "cyclic_pages": Reason.DAMAGED,
    "forms_in_forms": Reason.TOO_DEMANDING,
    "zip_bomb": Reason.NO_TEXT,
    "encrypted": Reason.ENCRYPTED,
    "empty": Reason.DAMAGED,
    "scanned": Reason.NO_TEXT,
    "content_bomb": Reason.TOO_DEMANDING,
}
# Notes on files of which a part is read within the limits.
READ_IN_PART = {
    "huge_string": [],
    "pages_sharing_a_stream": [Note(NoteKind.CHARACTERS_LEFT_OUT, 9, "900")],
    "thousands_of_pages": [Note(NoteKind.PAGES_LEFT_OUT, 49_000, "1000")],
    "truncated": [Note(NoteKind.PAGES_DAMAGED, 1), Note(NoteKind.END_MISSING)],
    "huge_page_count": [],
    "deep_page_tree": [],
    "million_fields": [Note(NoteKind.FORM_UNREADABLE)],
    "looping_fields": [],
    "looping_appearance": [],
    "entities_in_form_data": [Note(NoteKind.FORM_LABELS_LEFT_OUT), Note(NoteKind.FORM_UNREADABLE)],
}

REASONS_OF_OTHER_KINDS = {
    "repeated_cells": Reason.TOO_LONG,
    "repeated_rows": Reason.TOO_LONG,
    "many_blanks": Reason.TOO_LONG,
    "open_document_bomb": Reason.TOO_DEMANDING,
    "open_document_entities": Reason.DAMAGED,
    "deep_open_document": Reason.DAMAGED,
    "many_pages": Reason.TOO_MANY_PAGES,
    "protected_open_document": Reason.ENCRYPTED,
    "protected_book": Reason.ENCRYPTED,
    "book_bomb": Reason.TOO_DEMANDING,
    "book_of_entities": Reason.DAMAGED,
    "deep_page": Reason.TOO_DEMANDING,
    "tables_in_tables": Reason.TOO_DEMANDING,
    "wide_tables": Reason.DAMAGED,
    "long_page": Reason.TOO_LONG,
    "deep_rtf": Reason.TOO_DEMANDING,
    "long_rtf": Reason.TOO_LONG,
    "mail_of_mails": Reason.DAMAGED,
    "deep_parts": Reason.DAMAGED,
    "encoded_words": Reason.TOO_LONG,
    "deep_notebook": Reason.DAMAGED,
    "long_notebook": Reason.TOO_LONG,
    "huge_heic": Reason.DAMAGED,
}


def test_every_hostile_pdf_has_an_expectation():
    assert {*REASONS, *READ_IN_PART} == {*pdfs.HOSTILE}


@pytest.mark.parametrize("name", READ_IN_PART)
def test_hostile_pdf_is_read_in_part_with_notes(name: str):
    assert read(pdfs.HOSTILE[name](), "document").notes == READ_IN_PART[name]


@pytest.mark.parametrize("name", REASONS)
def test_hostile_pdf_is_refused_with_reason(name: str):
    with pytest.raises(Unreadable) as refused:
        read(pdfs.HOSTILE[name](), "document")
    assert refused.value.reason == REASONS[name]


@pytest.mark.parametrize("name", hostile_kinds.HOSTILE)
def test_hostile_file_of_other_kind_is_refused(name: str):
    content = hostile_kinds.HOSTILE[name]()
    file_type = detect_type(content, "file.bin")
    assert file_type is not None
    with pytest.raises(Unreadable) as refused:
        read(content, file_type.kind, file_type.media_type)
    assert refused.value.reason == REASONS_OF_OTHER_KINDS[name]


def test_long_honest_pdfs_are_read():
    book = read(pdfs.book(1000), "document")
    assert isinstance(book, Text)
    assert (len(book.pages), book.notes) == (1000, [])
    assert book.pages[999].endswith("about page 999 39")
    table = read(pdfs.table(30), "document")
    assert isinstance(table, Text)
    assert table.pages[0].split()[:3] == ["0", "1", "2"]


def test_slow_child_is_killed(monkeypatch):
    started: list[subprocess.Popen[bytes]] = []

    def note(*args: object, **options: object) -> "subprocess.Popen[bytes]":
        started.append(popen(*args, **options))
        return started[-1]

    popen = subprocess.Popen
    monkeypatch.setattr(guard, "TIMEOUT_S", 0.1)
    monkeypatch.setattr(subprocess, "Popen", note)
    with pytest.raises(Unreadable) as refused:
        read(pdfs.many_operators(), "document")
    assert refused.value.reason == Reason.TOO_DEMANDING
    assert started[0].poll() is not None
    with pytest.raises(ProcessLookupError):
        os.kill(started[0].pid, 0)


@pytest.mark.parametrize(
    ("pages", "status", "expected"),
    [
        ([Page("one", 40), Page("", 40, state="drawn")], -signal.SIGKILL, "one"),
        ([Page("", 40)], -signal.SIGKILL, Reason.TOO_DEMANDING),
        ([], None, Reason.TOO_DEMANDING),
        ([], -signal.SIGSEGV, Reason.DAMAGED),
    ],
)
def test_pages_before_the_end_of_a_child_are_kept(pages: list[Page], status: int | None, expected: str, monkeypatch):
    def fail(*arguments: str, content: bytes, **options: object) -> bytes:
        raise ChildFailed(b"".join(pack(msgspec.msgpack.encode(page)) for page in pages), status)

    monkeypatch.setattr(guard, "run_once", fail)
    if not isinstance(expected, Reason):
        notes = [Note(NoteKind.READING_STOPPED, 38, "2"), Note(NoteKind.PAGES_WITHOUT_TEXT, 1)]
        assert read(b"", "document") == Text([expected, ""], "pypdfium2", notes)
        return
    with pytest.raises(Unreadable) as refused:
        read(b"", "document")
    assert refused.value.reason == expected


def test_pages_before_a_refusal_are_kept(monkeypatch):
    messages = [Page("one", 2), Refusal(Reason.TOO_DEMANDING)]
    output = b"".join(pack(msgspec.msgpack.encode(message)) for message in messages)
    monkeypatch.setattr(guard, "run_once", lambda *arguments, **options: output)
    assert read(b"", "document") == Text(["one"], "pypdfium2", [Note(NoteKind.READING_STOPPED, 1, "1")])


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (pictures.png_that_claims(5000, 4801), Reason.TOO_MANY_PIXELS),
        (pictures.png_that_claims(200_000, 200_000), Reason.TOO_MANY_PIXELS),
        (pictures.png_that_claims(100, 100), Reason.DAMAGED),
        (pictures.picture("JPEG")[:200], Reason.DAMAGED),
        (b"GIF89a" + b"\xff" * 500, Reason.DAMAGED),
        (b"RIFF\xff\xff\xff\xffWEBPVP8L" + b"\0" * 40, Reason.DAMAGED),
    ],
)
def test_hostile_picture_is_refused_with_reason(content: bytes, reason: Reason):
    with pytest.raises(Unreadable) as refused:
        read(content, "image")
    assert refused.value.reason == reason


@pytest.mark.parametrize(
    ("make_picture", "media_type", "size"),
    [
        (partial(pictures.picture, "PNG", width=4000, height=6000), "image/png", (1045, 1568)),
        (partial(pictures.picture, "PNG", mode="RGBA"), "image/png", (40, 20)),
        (partial(pictures.picture, "PNG", mode="1"), "image/png", (40, 20)),
        (partial(pictures.picture, "PNG", mode="I;16"), "image/png", (40, 20)),
        (partial(pictures.picture, "JPEG", mode="CMYK"), "image/jpeg", (40, 20)),
        (partial(pictures.picture, "WEBP", width=2000, height=10), "image/jpeg", (1568, 8)),
        (pictures.animation, "image/png", (30, 30)),
        (pictures.photograph_with_metadata, "image/jpeg", (523, 1568)),
    ],
)
def test_picture_is_scaled_upright_without_metadata(
    make_picture: Callable[[], bytes], media_type: str, size: tuple[int, int]
):
    picture = read(make_picture(), "image")
    assert isinstance(picture, Picture)
    assert (picture.media_type, picture.width, picture.height) == (media_type, *size)
    seen = pictures.opened(picture.content)
    assert (seen.size, seen.info.keys() & {"exif", "comment", "icc_profile"}, dict(seen.getexif())) == (size, set(), {})
    assert getattr(seen, "n_frames", 1) == 1
    assert pictures.SECRET not in picture.content


@pytest.mark.django_db
def test_next_file_is_read_after_a_bomb(monkeypatch):
    actor = make.member()
    bomb = actions.keep_upload(actor=actor, content=pdfs.zip_bomb(), name="bomb.pdf")
    letter = actions.keep_upload(actor=actor, content=pdfs.with_text("Dear arena"), name="letter.pdf")
    for upload in (bomb, letter):
        read_upload(upload.pk)
    states = dict(Upload.objects.values_list("name", "state"))
    assert states == {"bomb.pdf": "failed", "letter.pdf": "ready"}
