"""The text of one page of a PDF, by PDFium. No Django: only the guarded child process calls it."""

import re
from collections.abc import Callable
from contextlib import closing, suppress

import pypdfium2
from pypdfium2 import raw as pdfium

from common.text.storable import REPLACEMENT, storable

# PDFium puts it in place of a hyphen at the end of a line; the first is how it calls it in its list of characters.
_HYPHENS = re.compile("[\x02\ufffe](?:\r?\n)?")
# Letters and marks of scripts from right to left, without their digits and punctuation.
_RIGHT_TO_LEFT = (
    "\u0590-\u05ff\u0610-\u061a\u061c-\u061e\u0620-\u065f\u066e-\u06d3\u06d5-\u06ef\u06fa-\u08ff"
    "\ufb1d-\ufdff\ufe70-\ufefc"
)
_WORD = re.compile(f"[{_RIGHT_TO_LEFT}]+")
_PASSAGE = re.compile(f"[{_RIGHT_TO_LEFT}]+(?:[ .,:;!،؛؟-]+[{_RIGHT_TO_LEFT}]+)*")
_HAS_EAST_ASIAN = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uff00-\uffef]")
# Bullets of the fonts Symbol and Wingdings.
_SYMBOLS = str.maketrans("\uf0b7\uf0a7\uf0d8\uf0fc\uf06e\uf071\uf0a8\uf0e0", "•▪➢✓■❑□→")
_UNREADABLE = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\ue000-\uf8ff\ufffd\uffff]")
# PDFium leaves out a text that is less wide.
_MIN_WIDTH = 0.01


class PageText:
    """text: without spaces at line ends. unreadable, assumed: see Page. has_objects: anything is drawn on the page."""

    def __init__(self, text: str, assumed: int, has_objects: bool) -> None:
        text = _HYPHENS.sub("", text).replace("\r\n", "\n").translate(_SYMBOLS)
        text, self.unreadable = _UNREADABLE.subn(REPLACEMENT, text)
        self.text = storable("\n".join(line.rstrip() for line in text.split("\n"))).strip()
        self.assumed = assumed
        self.has_objects = has_objects


def read_text(page: pypdfium2.PdfPage) -> PageText:
    objects = pdfium.FPDFPage_CountObjects(page)
    text, assumed = _read(page)
    if objects > 0 and (not text.strip() or _HAS_EAST_ASIAN.search(text)):
        text = _vertical_lines(page) or text
    return PageText(text, assumed, objects > 0)


def _read(page: pypdfium2.PdfPage) -> tuple[str, int]:
    """Return the text, and how many of its signs have no Unicode value in the file."""
    with closing(page.get_textpage()) as text_page:
        count = text_page.count_chars()
        if count <= 0:
            return "", 0
        is_assumed, handle = pdfium.FPDFText_HasUnicodeMapError, text_page.raw
        assumed = sum(is_assumed(handle, index) == 1 for index in range(count))
        text = text_page.get_text_range()
        if _WORD.search(text):
            text = _in_reading_order(text_page, count)
        return text, assumed


def _in_reading_order(text_page: pypdfium2.PdfTextPage, count: int) -> str:
    """Return the text with words from right to left in their order on the page.

    PDFium reverses all of them, also those that the file has in logical order (ActualText).
    """
    signs = [(index, code) for index in range(count) if (code := pdfium.FPDFText_GetUnicode(text_page, index))]
    text = "".join(chr(code) for _index, code in signs)
    places = [index for index, _code in signs]

    def from_right_to_left(begin: int, end: int) -> bool:
        try:
            first, last = text_page.get_charbox(places[begin]), text_page.get_charbox(places[end - 1])
        except pypdfium2.PdfiumError:
            return True
        return float(first[0]) >= float(last[0])

    return _PASSAGE.sub(lambda found: _ordered(found, from_right_to_left), text)


def _ordered(passage: re.Match[str], from_right_to_left: Callable[[int, int], bool]) -> str:
    pieces, end = [], passage.start()
    for word in _WORD.finditer(passage.string, *passage.span()):
        between = passage.string[end : word.start()]
        pieces += [between, word[0] if from_right_to_left(*word.span()) else word[0][::-1]]
        end = word.end()
    if not from_right_to_left(*passage.span()):
        pieces = [piece if index % 2 else piece[::-1] for index, piece in enumerate(pieces)][::-1]
    return "".join(pieces)


def _vertical_lines(page: pypdfium2.PdfPage) -> str:
    """Return the texts of a page in the file's order if lines without width are among them, else ""."""
    # Vertical lines have no width in fonts that are neither in the file nor on this machine. A little shear gives
    # them one.
    lines = list(page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_TEXT]))
    bounds = [line.get_bounds() for line in lines]
    narrow = [
        line
        for line, (left, bottom, right, top) in zip(lines, bounds, strict=True)
        if right - left < _MIN_WIDTH < top - bottom
    ]
    if not narrow:
        return ""
    for line in narrow:
        line.transform(pypdfium2.PdfMatrix(c=0.001))
    with closing(page.get_textpage()) as text_page:
        pieces, below = [], (0.0, 0.0)
        for line, (left, bottom, _right, top) in zip(lines, bounds, strict=True):
            line.textpage = text_page
            continues = abs(left - below[0]) < 1 and abs(top - below[1]) < 1
            with suppress(pypdfium2.PdfiumError):  # a line without letters
                pieces += ["" if continues else "\n", line.extract().replace("\r\n", "")]
            below = (left, bottom)
    return "".join(pieces)
