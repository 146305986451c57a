"""Hostile files are refused by the limited child process, and honest ones are read."""

import os
import subprocess
from collections.abc import Callable
from functools import partial

import pytest

from common.child_process import process
from tests import make
from tests.uploads import hostile_kinds, pdfs, pictures
from uploads import actions
from uploads.extraction import read_upload
from uploads.models import Upload
from uploads.reading.findings import Picture, Reason, Text, Unreadable
from uploads.reading.guard import read
from uploads.reading.sniffing import detect_type

pytestmark = pytest.mark.processes

REASONS = {
    "many_operators": Reason.TOO_DEMANDING,
    "huge_string": Reason.TOO_DEMANDING,
    "pages_sharing_a_stream": Reason.TOO_LONG,
    "thousands_of_pages": Reason.TOO_DEMANDING,
    "deep_arrays": Reason.DAMAGED,
    "deep_objects": Reason.DAMAGED,
    "cyclic_pages": Reason.DAMAGED,
    "forms_in_forms": Reason.NO_TEXT,
    "zip_bomb": Reason.TOO_DEMANDING,
    "encrypted": Reason.ENCRYPTED,
    "truncated": Reason.DAMAGED,
    "empty": Reason.DAMAGED,
    "scanned": Reason.NO_TEXT,
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


@pytest.mark.parametrize("name", pdfs.HOSTILE)
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
    book = read(pdfs.book(200), "document")
    assert isinstance(book, Text)
    assert len(book.pages) == 200
    assert book.pages[199].endswith("about page 199 39")
    table = read(pdfs.table(30), "document")
    assert isinstance(table, Text)
    assert table.pages[0].split()[:3] == ["0", "1", "2"]


def test_slow_child_is_killed(monkeypatch):
    started: list[subprocess.Popen[bytes]] = []

    def note(*args: object, **options: object) -> "subprocess.Popen[bytes]":
        started.append(popen(*args, **options))
        return started[-1]

    popen = subprocess.Popen
    monkeypatch.setattr(process, "TIMEOUT_S", 0.3)
    monkeypatch.setattr(subprocess, "Popen", note)
    with pytest.raises(Unreadable) as refused:
        read(pdfs.many_operators(), "document")
    assert refused.value.reason == Reason.TOO_DEMANDING
    assert started[0].poll() is not None
    with pytest.raises(ProcessLookupError):
        os.kill(started[0].pid, 0)


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
