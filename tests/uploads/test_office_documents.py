"""Texts of Office documents are read in the child process; hostile ones are refused with a reason."""

import pytest

from tests.uploads import offices
from uploads.reading.findings import Note, NoteKind, Reason, Text, Unreadable
from uploads.reading.guard import read
from uploads.reading.sniffing import DOCX, PPTX, XLSX, detect_type

pytestmark = pytest.mark.processes

REASONS = {
    "encrypted": Reason.ENCRYPTED,
    "encrypted_parts": Reason.ENCRYPTED,
    "macros": Reason.MACROS,
    "macros_by_content_type": Reason.MACROS,
    "template_elsewhere": Reason.EXTERNAL_LINKS,
    "linked_workbook": Reason.EXTERNAL_LINKS,
    "loading_field": Reason.EXTERNAL_LINKS,
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


@pytest.mark.slow
def test_sheet_is_read_by_content_not_by_extent():
    text = read(offices.formatted_rows(), "document")
    assert isinstance(text, Text)
    assert text.pages == ["Sums\n1\t2\n3\n\n\t\t4"]


def test_hidden_sheet_is_read_last_and_named():
    parts = offices.xlsx_parts('<row r="1"><c r="A1"><v>1</v></c></row>')
    name = "xl/workbook.xml"
    hidden = parts | {
        name: parts[name].replace('sheetId="1"', 'sheetId="1" state="hidden"'),
        "xl/worksheets/sheet2.xml": parts["xl/worksheets/sheet1.xml"],
    }
    text = read(offices.package(hidden), "document")
    assert isinstance(text, Text)
    assert text.pages == ["None\n1", "Sums\n1"]
    assert text.notes == [Note(NoteKind.HIDDEN_SHEETS, 1, "Sums")]


def test_only_office_packages_are_detected_as_such():
    assert detect_type(offices.package({"word/notes.txt": "Hello"}), "a.docx") is None
    assert detect_type(offices.OLE + bytes(600), "old.doc") is None
    encrypted = detect_type(offices.encrypted(), "Sums.XLSX")
    assert encrypted is not None
    assert encrypted.media_type == XLSX
