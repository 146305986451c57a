"""Texts of Office documents are read in the child process; hostile ones are refused with a reason."""

import pytest

from tests.uploads import offices
from uploads.reading.child import read_document
from uploads.reading.findings import Note, NoteKind, Reason, Text, Unreadable
from uploads.reading.guard import read
from uploads.reading.kinds import DOCX, PPTX, XLSX
from uploads.reading.sniffing import detect_type

pytestmark = pytest.mark.processes

REASONS = {
    "encrypted": Reason.ENCRYPTED,
    "encrypted_parts": Reason.ENCRYPTED,
    "zip_bomb": Reason.TOO_DEMANDING,
    "lying_zip_bomb": Reason.DAMAGED,
    "entities": Reason.DAMAGED,
    "outside_file": Reason.DAMAGED,
    "diagonal_cells": Reason.TOO_DEMANDING,
    "deep_elements": Reason.DAMAGED,
    "many_slides": Reason.TOO_MANY_PAGES,
    "without_main_part": Reason.DAMAGED,
    "truncated": Reason.DAMAGED,
    "without_text": Reason.NO_TEXT,
    "long_text": Reason.TOO_LONG,
}


@pytest.mark.parametrize("name", offices.HOSTILE)
def test_hostile_office_document_is_refused(name: str):
    with pytest.raises(Unreadable) as refused:
        read(offices.HOSTILE[name](), "document")
    assert refused.value.reason == REASONS[name]


@pytest.mark.parametrize(
    ("content", "media_type", "pages"),
    [
        (offices.report(), DOCX, ["One\ttwo\na1\tb1 b2\nIn a box\nAfter é\nA note"]),
        (offices.pptx(), PPTX, ["First\nSay hello", "Second"]),
        (offices.xlsx(), XLSX, ["Sums\nDay\tSum\n2023-03-15\t3"]),
        (offices.far_cell(), XLSX, ["Sums\n1\n\n\t1"]),
        (offices.merged_cells(), XLSX, ["Sums\n1"]),
    ],
)
def test_text_of_office_document_is_read(content: bytes, media_type: str, pages: list[str]):
    file_type = detect_type(content, "file.bin")
    assert file_type is not None
    assert (file_type.media_type, file_type.kind) == (media_type, "document")
    text = read(content, "document")
    assert isinstance(text, Text)
    assert text.pages == pages


@pytest.mark.parametrize(
    ("name", "media_type", "pages", "notes"),
    [
        ("macros", DOCX, ["Hello"], [Note(NoteKind.MACROS_LEFT_OUT, 1)]),
        ("macros_by_content_type", DOCX, ["Hello"], []),
        ("template_elsewhere", DOCX, ["Hello"], [Note(NoteKind.LINKS_NOT_FOLLOWED, 1)]),
        ("loading_field", DOCX, ["Result"], [Note(NoteKind.LINKS_NOT_FOLLOWED, 1)]),
        ("linked_workbook", XLSX, ["Sums\n1"], [Note(NoteKind.LINKS_NOT_FOLLOWED, 1)]),
        (
            "remarkable", DOCX,
            ["Company\nmoved E=mc\u2011x\nStep one\nConfidential\n[Comment by Ada: Really?]"],
            [
                Note(NoteKind.PICTURES_LEFT_OUT, 1), Note(NoteKind.CHARTS_LEFT_OUT, 1),
                Note(NoteKind.OBJECTS_LEFT_OUT, 1), Note(NoteKind.DELETIONS_LEFT_OUT, 1),
            ],
        ),
        (
            "remarkable_sheets", XLSX, ["Sums\n1", "[Comment: Check]\nIn a box"],
            [
                Note(NoteKind.PICTURES_LEFT_OUT, 1), Note(NoteKind.HIDDEN_SHEETS, 1),
                Note(NoteKind.FORMULAS_WITHOUT_VALUE, 3),
            ],
        ),
        ("hidden_slide", PPTX, ["First\nSay hello", "Second"], [Note(NoteKind.HIDDEN_SLIDES, 1)]),
    ],
)  # fmt: skip
def test_unread_parts_of_office_document_are_noted(name: str, media_type: str, pages: list[str], notes: list[Note]):
    text = read_document(offices.REMARKABLE[name](), media_type)
    assert isinstance(text, Text)
    assert (text.pages, text.notes) == (pages, notes)


@pytest.mark.slow
def test_sheet_is_read_by_content_not_by_extent():
    text = read(offices.formatted_rows(), "document")
    assert isinstance(text, Text)
    assert text.pages == ["Sums\n1\t2\n3\n\n\t\t4"]


def test_only_office_packages_are_detected_as_such():
    assert detect_type(offices.package({"word/notes.txt": "Hello"}), "a.docx") is None
    assert detect_type(offices.OLE + bytes(600), "old.doc") is None
    encrypted = detect_type(offices.encrypted(), "Sums.XLSX")
    assert encrypted is not None
    assert encrypted.media_type == XLSX
