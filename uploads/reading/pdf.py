"""Extract the text of a PDF. No Django: only the guarded child process calls it (uploads.reading.child)."""

from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Literal

import pypdfium2
from pypdfium2 import raw as pdfium

from common.text.storable import storable
from uploads.reading.findings import Note, NoteKind, Reason, Text, Unreadable, listed
from uploads.reading.pages import MAX_CHARACTERS, MAX_PAGES, Page, text_of
from uploads.reading.pdf_repair import repaired
from uploads.reading.pdf_text import read_text
from uploads.reading.sniffing import pdf_start

if TYPE_CHECKING:
    from uploads.reading.pdf_forms import Forms

READER = f"pypdfium2-{pypdfium2.PYPDFIUM_INFO}"

_HEADER = b"%PDF-1.7\n"
_PASSWORD_ERRORS = (pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY)


def extract_text(content: bytes, send: Callable[[Page], None]) -> Text:
    """Return the text of each page, and send each page as soon as it is read.

    Raises Unreadable; any other exception means a damaged or hostile file.
    """
    start = pdf_start(content)
    if start is None:
        raise Unreadable(Reason.DAMAGED)
    content = content[start:]
    is_cut = _is_cut(content)
    pages: list[Page] = []
    document, content = _opened(content if content.startswith(b"%PDF-") else _HEADER + content)
    with closing(document):
        reading = _Reading(document, content)
        for page in reading.pages():
            pages.append(page)
            send(page)
        notes = reading.notes()
    if is_cut:
        notes.append(Note(NoteKind.END_MISSING))
    return text_of(pages, READER, notes)


def _opened(content: bytes) -> tuple[pypdfium2.PdfDocument, bytes]:
    """Return the document and its content, repaired if no page could be read. Raises Unreadable."""
    try:
        document = pypdfium2.PdfDocument(content)
    except pypdfium2.PdfiumError as error:
        if error.err_code in _PASSWORD_ERRORS:
            raise Unreadable(Reason.ENCRYPTED) from error
    else:
        if _has_pages(document):
            return document, content
        document.close()
    for attempt in repaired(content):
        with suppress(pypdfium2.PdfiumError):
            document = pypdfium2.PdfDocument(attempt)
            if _has_pages(document):
                return document, attempt
            document.close()
    raise Unreadable(Reason.DAMAGED)


def _has_pages(document: pypdfium2.PdfDocument) -> bool:
    for index in range(min(len(document), MAX_PAGES)):
        with suppress(pypdfium2.PdfiumError):
            document.get_page_size(index)  # does not parse the page
            return True
    return False


def _is_cut(content: bytes) -> bool:
    """Return whether objects, or no mark of an end at all, follow the last mark of an end."""
    end = content.rfind(b"%%EOF")
    return end < 0 or content.find(b" obj", end) >= 0


class _Reading:
    """PDFium reads the text, pypdf what is beside it, if there is anything: loading pypdf takes a third of a second."""

    def __init__(self, document: pypdfium2.PdfDocument, content: bytes) -> None:
        self._document = document
        self._content = content
        self._forms: Forms | None = None
        # An XFA form without pages of its own.
        self._is_dynamic = document.get_formtype() == pdfium.FORMTYPE_XFA_FULL

    def pages(self) -> Iterator[Page]:
        """Yield pages up to the limits; the last one may be cut."""
        room, total = MAX_CHARACTERS, len(self._document)
        for index in range(min(total, MAX_PAGES)):
            page = self._page(index, total)
            if len(page.text) > room:
                page.text, page.is_cut = page.text[:room], True
            room -= len(page.text)
            yield page
            if page.is_cut:
                return

    def notes(self) -> list[Note]:
        notes = [Note(NoteKind.FORM_LABELS_LEFT_OUT)] if self._is_dynamic else []
        names = [attachment.get_name() for attachment in self._attachments()]
        if self._forms is not None:
            names += self._forms.attachments
            notes += [Note(NoteKind.FORM_UNREADABLE)] if self._forms.has_failed else []
        if names:
            notes.append(Note(NoteKind.ATTACHMENTS_LEFT_OUT, len(names), listed(names)))
        return notes

    def _attachments(self) -> Iterator[pypdfium2.PdfAttachment]:
        for index in range(self._document.count_attachments()):
            yield self._document.get_attachment(index)

    def _page(self, index: int, total: int) -> Page:
        try:
            with closing(self._document[index]) as page:
                found, has_more = read_text(page), _has_fields_or_comments(page)
        except pypdfium2.PdfiumError:
            return Page("", total, state="damaged")
        passages = self._opened_forms().passages(index) if has_more else []
        if index == 0 and self._is_dynamic:
            passages += self._opened_forms().dynamic_data()
        text = "\n\n".join(filter(None, [found.text, *map(storable, passages)]))
        state: Literal["", "blank", "drawn"] = "" if text else "drawn" if found.has_objects else "blank"
        return Page(text, total, found.unreadable, found.assumed, state)

    def _opened_forms(self) -> "Forms":
        if self._forms is None:
            from uploads.reading.pdf_forms import Forms

            self._forms = Forms(self._content)
        return self._forms


def _has_fields_or_comments(page: pypdfium2.PdfPage) -> bool:
    for index in range(pdfium.FPDFPage_GetAnnotCount(page)):
        annotation = pdfium.FPDFPage_GetAnnot(page, index)
        kind = pdfium.FPDFAnnot_GetSubtype(annotation)
        pdfium.FPDFPage_CloseAnnot(annotation)
        if kind not in (pdfium.FPDF_ANNOT_LINK, pdfium.FPDF_ANNOT_POPUP):
            return True
    return False
