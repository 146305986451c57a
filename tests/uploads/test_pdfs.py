"""PDFs are read as pdftotext reads them, with the answers of forms, and name what is left out."""

import pytest

from tests.uploads import pdfs
from uploads.notes import note_message
from uploads.reading import pages
from uploads.reading.findings import Note, NoteKind, Reason, Text, Unreadable
from uploads.reading.pages import Page, text_of
from uploads.reading.pdf import extract_text
from uploads.reading.sniffing import PDF, detect_type


def read(content: bytes) -> Text:
    return extract_text(content, lambda page: None)


def lines(content: bytes) -> list[str]:
    return "\n".join(read(content).pages).split("\n")


def widget(more: bytes) -> bytes:
    return b"<</Type/Annot/Subtype/Widget/Rect[0 0 99 9]" + more + b">>"


def test_filled_fields_follow_the_text_of_their_page():
    fields = {
        10: widget(b"/FT/Tx/T(surname)/TU(Your surname)/V(L\\363pez)"),
        11: widget(b"/FT/Tx/T(empty)"),
        12: widget(b"/FT/Btn/T(agree)/V/Yes/AS/Yes"),
        13: widget(b"/FT/Btn/T(news)/V/Off/AS/Off"),
        14: widget(b"/FT/Ch/T(country)/V(de)/Opt[[(fr)(France)][(de)(Germany)]]"),
        15: b"<</FT/Btn/Ff 32768/T(pay)/V/monthly>>",
        16: widget(b"/Parent 15 0 R/AS/Off"),
        17: widget(b"/Parent 15 0 R/AS/monthly"),
        18: b"<</T(address)>>",
        19: widget(b"/Parent 18 0 R/FT/Tx/T(city)/V(Bonn)"),
        20: widget(b"/FT/Btn/Ff 65536/T(send)/V/On"),
        21: widget(b"/FT/Tx/Ff 8192/T(password)/V(secret)"),
        22: widget(b"/FT/Tx/F 2/T(hidden)/V(computed)"),
    }
    shown = b" ".join(b"%d 0 R" % number for number in (10, 11, 12, 13, 14, 16, 17, 19, 20, 21, 22))
    assert lines(pdfs.with_annotations(fields, shown)) == [
        "A form", "", "[Form fields]", "Your surname: López", "agree: [x]", "news: [ ]", "country: Germany",
        "pay: monthly", "address.city: Bonn",
    ]  # fmt: skip


def test_comments_follow_the_text_and_attached_files_are_named():
    file = b"<</Type/Filespec/F(data.csv)/UF(data.csv)/EF<</F 15 0 R>>>>"
    annotations = {
        10: b"<</Type/Annot/Subtype/Text/Rect[0 0 9 9]/T(Ana)/Contents(Please check)>>",
        11: b"<</Type/Annot/Subtype/FreeText/Rect[0 0 9 9]/Contents(Paid)>>",
        12: b"<</Type/Annot/Subtype/Link/Rect[0 0 9 9]/Contents(left out)>>",
        13: b"<</Type/Annot/Subtype/FileAttachment/Rect[0 0 9 9]/FS 14 0 R>>",
        14: file,
        15: pdfs.stream(b"a,b"),
    }
    names = b"/Names<</EmbeddedFiles<</Names[(photo.jpg)<</Type/Filespec/F(photo.jpg)/EF<</F 15 0 R>>>>]>>>>"
    content = pdfs.with_annotations(annotations, b"10 0 R 11 0 R 12 0 R 13 0 R", catalog=names)
    assert lines(content) == ["A form", "", "[Comments]", "Ana: Please check", "Paid"]
    assert read(content).notes == [Note(NoteKind.ATTACHMENTS_LEFT_OUT, 2, "photo.jpg, data.csv")]


def test_data_of_dynamic_form_is_read():
    content = pdfs.with_xfa(b"<data><person><name>Ana</name><age/><city>Bonn</city></person></data>")
    assert lines(content) == ["A form", "", "[Form fields]", "name: Ana", "city: Bonn"]
    assert read(content).notes == [Note(NoteKind.FORM_LABELS_LEFT_OUT)]


def test_words_from_right_to_left_are_in_reading_order():
    # The font's "a" to "e" are Arabic letters; the file has one word in the order of its glyphs, one as ActualText.
    logical = "ابتثج".encode("utf-16-be").hex().encode()
    drawn = (
        b"BT /F1 12 Tf 200 800 Td (edcba)Tj ET /Span<</ActualText<FEFF%s>>>BDC BT /F1 12 Tf 100 800 Td (edcba)Tj ET EMC"
    )
    assert lines(pdfs.in_arabic_letters(drawn % logical)) == ["ابتثج ابتثج"]


def test_vertical_lines_are_read_from_right_to_left():
    assert lines(pdfs.vertical(["わたくしといふ現象は", "ひとつの青い照明です"])) == [
        "わたくしといふ現象は",
        "ひとつの青い照明です",
    ]


def test_word_divided_at_line_end_is_joined():
    assert lines(pdfs.with_text("an extra-\nordinary word")) == ["an extraordinary word"]


def test_signs_without_letters_are_counted():
    result = read(pdfs.in_arabic_letters(b"BT /F1 12 Tf 50 800 Td (xyab)Tj ET"))
    assert result.pages == ["•�اب"[:2] + "با"] or result.pages == ["•�اب"]
    assert result.notes == [Note(NoteKind.SIGNS_UNREADABLE, 1)]


@pytest.mark.parametrize(
    "content",
    [
        b"HTTP/1.1 200 OK\r\n\r\n" + pdfs.with_text("found"),
        b"\x1b%-12345X@PJL\n" + pdfs.with_text("found") + b"\x1b%-12345X",
        pdfs.with_text("found") + b"\0" * 5000,
        b"x" * 5000 + b"\n" + pdfs.with_text("found"),
        pdfs.with_text("found").replace(b"startxref", b"startxxxx"),
        pdfs.with_text("found").replace(b"%PDF-1.7\n", b""),
    ],
    ids=["header", "printer", "zeros behind", "late", "without xref", "without header"],
)
def test_pdf_among_other_bytes_is_found(content: bytes):
    found = detect_type(content, "a.pdf")
    assert found is not None
    assert found.media_type == PDF
    assert lines(content) == ["found"]


@pytest.mark.parametrize(
    "text", [b"The header is %PDF-1.7, then objects follow.", b'make(b"%PDF-1.7\\n1 0 obj endobj")']
)
def test_text_about_pdfs_is_text(text: bytes):
    found = detect_type(b"x" * 2000 + text, "a.txt")
    assert found is not None
    assert found.media_type == "text/plain"


@pytest.mark.parametrize(
    "before", [b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"letter.pdf".ljust(257, b"\0") + b"ustar"]
)
def test_pdf_in_a_container_is_not_taken_for_the_file(before: bytes):
    assert detect_type(before.ljust(512, b"\0") + pdfs.with_text("one of many"), "a.bin") is None


def test_cut_pdf_is_read_with_a_note():
    content = pdfs.book(3)
    result = read(content[: content.rindex(b"xref\n0")])
    assert len(result.pages) == 3
    assert result.notes == [Note(NoteKind.END_MISSING)]


def test_pages_without_their_tree_are_read():
    content = pdfs.with_text("first", "second").replace(b"/Kids[4 0 R 6 0 R]", b"/Kids[3 0 R 3 0 R]")
    assert read(content).pages == ["first", "second"]


def test_pages_without_text_are_counted():
    result = read(pdfs.with_pages([pdfs.lines(["text"]), b"0 0 9 9 re f", b""]))
    assert result.pages == ["text", "", ""]
    assert result.notes == [Note(NoteKind.PAGES_WITHOUT_TEXT, 1)]


def test_text_beyond_limits_is_left_out_with_a_note(monkeypatch):
    monkeypatch.setattr("uploads.reading.pdf.MAX_CHARACTERS", 7)
    result = read(pdfs.with_text("first", "second", "third"))
    assert (result.pages, result.notes) == (["first", "se"], [Note(NoteKind.CHARACTERS_LEFT_OUT, 2, "3")])
    monkeypatch.setattr("uploads.reading.pdf.MAX_PAGES", 1)
    monkeypatch.setattr(pages, "MAX_PAGES", 1)
    result = read(pdfs.with_text("first", "second", "third"))
    assert (result.pages, result.notes) == (["first"], [Note(NoteKind.PAGES_LEFT_OUT, 2, "1")])


def test_damaged_page_is_left_out_with_a_note():
    content = pdfs.with_text("first", "second").replace(b"/Kids[4 0 R 6 0 R]", b"/Kids[4 0 R 3 0 R]")
    result = read(content)
    assert result.pages[0] == "first"
    assert [note.kind for note in result.notes] in ([NoteKind.PAGES_DAMAGED], [])


def test_text_of_interrupted_reading_names_its_end():
    assert text_of([Page("one", 40), Page("two", 40)], "x").notes == [Note(NoteKind.READING_STOPPED, 38, "2")]
    with pytest.raises(Unreadable) as refused:
        text_of([Page("", 1, state="damaged")], "x")
    assert refused.value.reason == Reason.DAMAGED


@pytest.mark.parametrize("kind", NoteKind)
def test_every_note_has_a_sentence(kind: NoteKind):
    assert "3" in (sentence := note_message(Note(kind, 3, "3"))) or "." in sentence
