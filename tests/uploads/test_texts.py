"""Texts in any encoding: what is sent and said, and another encoding that a person chooses."""

from contextlib import suppress
from random import Random

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from common.text.encodings import CODECS
from tests import make
from uploads.actions import mark_used
from uploads.models import Upload
from uploads.reading.findings import Reason, Unreadable
from uploads.reading.sniffing import detect_type
from uploads.reading.texts import read_text

ASSUMED = "The text seems to be in the encoding %s."
DROPPED = "1 control character is left out."
# sentence: (content, text, encoding, sentences of notes)
SHAPES = {
    "ASCII": (b"one\ntwo\n", "one\ntwo", "UTF-8", []),
    "UTF-8 with a mark": ("\ufeffGröße".encode(), "Größe", "UTF-8", []),
    "UTF-16 with a mark": ("Größe\r\n".encode("utf-16"), "Größe", "UTF-16LE", []),
    "UTF-16 without a mark": ("Größe 1".encode("utf-16-be"), "Größe 1", "UTF-16BE", []),
    "German with one umlaut": ("Die Übung.".encode("cp1252"), "Die Übung.", "Windows-1252",
                               [ASSUMED % "Windows-1252"]),
    "doubled vowels": ("Hyvää yötä, ääni".encode("cp1252"), "Hyvää yötä, ääni", "Windows-1252",
                       [ASSUMED % "Windows-1252"]),
    "Polish table": ("pytanie;odpowiedź\r\nStolica?;Łódź\r\n".encode("cp1250"), "pytanie;odpowiedź\nStolica?;Łódź",
                     "Windows-1250", [ASSUMED % "Windows-1250"]),
    "Turkish": ("Bütün insanlar eşit doğarlar.".encode("cp1254"), "Bütün insanlar eşit doğarlar.", "Windows-1254",
                [ASSUMED % "Windows-1254"]),
    "Mac": ("Größe und Länge".encode("mac_roman"), "Größe und Länge", "Mac Roman", [ASSUMED % "Mac Roman"]),
    "comment in code": ("x = 1  # gère les cas spéciaux".encode("latin-1"), "x = 1  # gère les cas spéciaux",
                        "Windows-1252", [ASSUMED % "Windows-1252"]),
    "carriage returns only": (b"one\rtwo\rthree", "one\ntwo\nthree", "UTF-8", []),
    "form feeds": (b"one\x0ctwo", "one\x0ctwo", "UTF-8", []),
    "bidi marks": ("a\u202eb\u202c \u05d0\u200f".encode(), "a\u202eb\u202c \u05d0\u200f", "UTF-8", []),
    "very long line": (b"x" * 900_000, "x" * 900_000, "UTF-8", []),
    "JSON lines": (b'{"a": 1}\n{"a": 2}\n', '{"a": 1}\n{"a": 2}', "UTF-8", []),
    "log with colours": (b"\x1b[31mERROR\x1b[0m full", "\x1b[31mERROR\x1b[0m full", "UTF-8", []),
    "control character": ("Größe \x07 und Länge".encode("cp1252"), "Größe  und Länge", "Windows-1252",
                          [ASSUMED % "Windows-1252", DROPPED]),
    "NUL": (b"one two \x00 three", "one two  three", "UTF-8", [DROPPED]),
    "lines in two encodings": ("schöner Tag\n".encode() + "größte Übung".encode("cp1252"), "schöner Tag\ngrößte Übung",
                               "UTF-8", ["1 line is not in UTF-8; it seems to be in the encoding Windows-1252."]),
    "damaged UTF-8": ("Größe, Länge, Höhe, Tüte, Süße, Öl, ähnlich, über, für, Tür ".encode() + b"\xe9",
                      "Größe, Länge, Höhe, Tüte, Süße, Öl, ähnlich, über, für, Tür \ufffd", "UTF-8",
                      ["1 character is damaged and replaced by “\ufffd”."]),
}  # fmt: skip


@pytest.mark.parametrize("sentence", SHAPES)
def test_shape_of_text_is_read_and_named(sentence: str):
    content, text, encoding, notes = SHAPES[sentence]
    result = read_text(content)
    assert (result.pages, result.encoding) == ([text], encoding)
    upload = Upload(notes=[{"kind": note.kind, "count": note.count, "detail": note.detail} for note in result.notes])
    assert upload.note_messages == notes
    file_type = detect_type(content, "a.txt")
    assert file_type is not None
    assert file_type.kind == "document"


@pytest.mark.parametrize(("content", "reason"), [
    (b"\xef\xbb\xbf", Reason.NO_TEXT), (b"x" * 1_000_001, Reason.TOO_LONG), (bytes(100), Reason.DAMAGED),
])  # fmt: skip
def test_text_that_cannot_be_sent_is_refused(content: bytes, reason: Reason):
    with pytest.raises(Unreadable) as refused:
        read_text(content)
    assert refused.value.reason == reason


def test_damaged_texts_are_read_or_refused():
    random = Random(5)
    contents = [content for content, *_rest in SHAPES.values() if len(content) < 1_000]
    marks = [b"\xff\xfe", b"\x1b$B", b"\x1b$)C", b"\xff\xfe\0\0", b"coding: rot13\n", b'encoding="utf-16"', b"\0"]
    for _ in range(200):
        content = random.choice(marks) + random.choice(contents) + random.choice(contents)
        cut = bytearray(content[random.randrange(4) : random.randrange(len(content)) + 1])
        for _ in range(random.randint(0, 3)):
            cut[random.randrange(len(cut)) if cut else 0 : 1] = bytes([random.randrange(256)])
        for encoding in ("", random.choice(list(CODECS))):
            with suppress(Unreadable):
                assert read_text(bytes(cut), encoding).pages != [""]


def upload(browser: Client, content: bytes) -> str:
    browser.post("/uploads/", {"file": SimpleUploadedFile("a.txt", content)})
    return Upload.objects.latest("pk").public_id


@pytest.mark.django_db
def test_another_encoding_is_chosen_at_the_file():
    browser = make.browser(make.member())
    content = "Café № 5".encode("cp1251", "replace").replace(b"?", b"\xe9")
    public_id = upload(browser, content)
    address = f"/uploads/{public_id}/"
    page = browser.get(address).text
    assert 'value="Windows-1252"' in page
    assert f'href="{address}#encoding"' in browser.get(f"{address}chip/").text
    chosen = browser.post(f"{address}encoding/", {"encoding": "IBM850"}, follow=True)
    assert (chosen.redirect_chain[0][0], "<dd>IBM850</dd>" in chosen.text) == (f"{address}#encoding", True)
    row = Upload.objects.get()
    assert (row.extraction.pages, row.encoding, row.notes) == ([content.decode("cp850")], "IBM850", [])
    assert "no text" in browser.post(f"{address}encoding/", {"encoding": "none"}, follow=True).text
    mark_used(Upload.objects.all())
    assert 'id="encoding"' not in browser.get(address).text
    refused = browser.post(f"{address}encoding/", {"encoding": "Windows-1252"}, follow=True)
    assert "a prompt has used it" in refused.text
    assert Upload.objects.get().encoding == "IBM850"
    assert make.browser(make.member()).post(f"{address}encoding/", {"encoding": "IBM850"}).status_code == 404


@pytest.mark.django_db
def test_api_chooses_an_encoding():
    api = make.browser(make.member())
    public_id = upload(api, "mañana".encode("cp1252"))

    def choose(name: str) -> tuple[int, object]:
        response = api.post(
            f"/api/v1/uploads/{public_id}/encoding/", {"encoding": name}, content_type="application/json"
        )
        return response.status_code, response.json().get("encoding")

    assert choose("ISO-8859-15") == (200, "ISO-8859-15")
    assert choose("none")[0] == 400
    assert api.get(f"/api/v1/uploads/{public_id}/").json()["encoding"] == "ISO-8859-15"
    unicode = upload(api, "Größe".encode())
    assert api.get(f"/uploads/{unicode}/").context["encodings"] is None
    public_id = unicode
    assert choose("ISO-8859-15")[0] == 409


@pytest.mark.django_db
@pytest.mark.parametrize("content", [b"\xef\xbb\xbf", b" \r\n", b"\xff\xfe"])
def test_file_without_content_is_named_empty(content: bytes):
    response = make.browser(make.member()).post("/uploads/", {"file": SimpleUploadedFile("a.txt", content)})
    assert (response.status_code, "The file is empty." in response.text) == (400, True)
    assert not Upload.objects.exists()
