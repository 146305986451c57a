"""Fields and comments of a PDF, by pypdf. No Django: only the guarded child process calls it."""

import io
from collections.abc import Iterator
from typing import Any, cast

import pypdf
from lxml import etree
from pypdf.generic import ArrayObject, DictionaryObject, EncodedStreamObject, NameObject, PdfObject, StreamObject

from uploads.reading.pages import MAX_PAGES

# Honest files of a thousand pages stay below a tenth of each; within pypdf's own limits 11 kB can take 22 s.
LIMITS: dict[str, Any] = {
    "maximum_declared_stream_length": 20_000_000,
    "array_based_stream_maximum_output_length": 20_000_000,
    "array_maximum_element_count": 50_000,
    "dictionary_maximum_element_count": 50_000,
    "zlib_maximum_output_length": 20_000_000,
    "zlib_maximum_recovery_input_length": 1_000_000,
    "lzw_maximum_output_length": 10_000_000,
    "run_length_maximum_output_length": 10_000_000,
    "brotli_maximum_output_length": 10_000_000,
    "jbig2_maximum_output_length": 1_000_000,
    "image_maximum_buffer_size": 1_000_000,
    "stream_filters_maximum_length": 4,
    "stream_decoding_work_maximum_length": 40_000_000,
    "stream_parsing_work_maximum_count": 1_000_000,
    "page_tree_maximum_entries": 4 * MAX_PAGES,
    "page_tree_maximum_depth": 50,
    "page_tree_maximum_page_entries": 100_000,
    "xform_maximum_invocations_per_extraction": 200,
    "jbig2dec_binary": None,
    "disable_legacy_handling": True,
}
MAX_XML_BYTES = 10_000_000
MAX_FIELDS = 20_000
MAX_DEPTH = 20

_HIDDEN = 2
_RADIO, _PUSH_BUTTON, _PASSWORD = 1 << 15, 1 << 16, 1 << 13
_COMMENTS = frozenset({
    "/Text", "/FreeText", "/Highlight", "/Underline", "/StrikeOut", "/Squiggly", "/Stamp", "/Caret", "/Square",
    "/Circle", "/Line", "/Polygon", "/PolyLine", "/Ink",
})  # fmt: skip


class Forms:
    """Passages of text for the fields and comments of pages.

    has_failed: pypdf could not read all of them. attachments: names of files in comments.
    """

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._reader: pypdf.PdfReader | None = None
        self._fields_read = 0
        self.has_failed = False
        self.attachments: list[str] = []

    def passages(self, index: int) -> list[str]:
        """Return up to two passages: filled fields, and comments, of the page with this index."""
        if self.has_failed:
            return []
        fields: list[str] = []
        comments: list[str] = []
        try:
            page = self._opened().pages[index]
            for annotation in self._annotations(page):
                self._read_annotation(page, annotation, fields, comments)
        except MemoryError:
            raise
        except Exception:  # pypdf raises any exception for broken files
            self.has_failed = True
        named = (("[Form fields]", fields), ("[Comments]", comments))
        return ["\n".join([name, *lines]) for name, lines in named if lines]

    def dynamic_data(self) -> list[str]:
        """Return up to one passage: the data of an XFA form."""
        try:
            xml = (self._opened().xfa or {}).get("datasets")
            lines = list(_xfa_lines(xml)) if isinstance(xml, bytes) else []
        except MemoryError:
            raise
        except Exception:
            self.has_failed = True
            return []
        return ["\n".join(["[Form fields]", *lines])] if lines else []

    def _opened(self) -> pypdf.PdfReader:
        if self._reader is None:
            pypdf.overwrite_configuration(**LIMITS)
            self._reader = pypdf.PdfReader(io.BytesIO(self._content), strict=False)
            if self._reader.is_encrypted:
                self._reader.decrypt("")
        return self._reader

    def _annotations(self, page: pypdf.PageObject) -> Iterator[DictionaryObject]:
        annotations = _resolved(page.get("/Annots"))
        for annotation in annotations if isinstance(annotations, ArrayObject) else []:
            self._fields_read += 1
            if self._fields_read > MAX_FIELDS:
                self.has_failed = True
                return
            if isinstance(found := _resolved(annotation), DictionaryObject) and not _number(found.get("/F")) & _HIDDEN:
                yield found

    def _read_annotation(
        self, page: pypdf.PageObject, annotation: DictionaryObject, fields: list[str], comments: list[str]
    ) -> None:
        kind = annotation.get("/Subtype")
        if kind == "/Widget":
            fields += _field_line(page, annotation)
        elif kind == "/FileAttachment":
            self.attachments.append(_file_name(_resolved(annotation.get("/FS"))))
        elif kind in _COMMENTS and (text := _text(annotation.get("/Contents")) or _drawn_text(page, annotation)):
            author = _text(annotation.get("/T"))
            comments.append(f"{author}: {text}" if author else text)


def _drawn_text(page: pypdf.PageObject, annotation: DictionaryObject) -> str:
    """Return the text of an annotation's appearance."""
    appearance = _resolved(annotation.get("/AP"))
    drawing = _resolved(appearance.get("/N")) if isinstance(appearance, DictionaryObject) else None
    # A stream without a filter is read alike.
    return (
        page.extract_xform_text(cast(EncodedStreamObject, drawing)).strip() if isinstance(drawing, StreamObject) else ""
    )


def _field_line(page: pypdf.PageObject, widget: DictionaryObject) -> list[str]:
    """Return "name: value", or nothing for an empty field."""
    line = [widget]
    while isinstance(parent := _resolved(line[-1].get("/Parent")), DictionaryObject) and len(line) < MAX_DEPTH:
        line.append(parent)
    kind, flags, value = _text(_inherited(line, "/FT")), _number(_inherited(line, "/Ff")), _inherited(line, "/V")
    name = _text(_inherited(line, "/TU")) or ".".join(
        part for field in reversed(line) if (part := _text(field.get("/T")))
    )
    if kind == "Btn" and not flags & _PUSH_BUTTON:
        shown = _button(line, is_radio=bool(flags & _RADIO))
    elif kind == "Sig":
        name = name or "Signature"
        shown = _drawn_text(page, widget) or "[x]" if isinstance(value, DictionaryObject) else ""
    elif kind == "Ch":
        labels = _labels(_inherited(line, "/Opt"))
        chosen = [_text(one) for one in (value if isinstance(value, ArrayObject) else [value])]
        shown = ", ".join(labels.get(one, one) for one in chosen if one)
    else:
        shown = "" if kind == "Btn" or flags & _PASSWORD else _text(value)
    return [f"{name}: {shown}" if name else shown] if shown.strip() else []


def _button(line: list[DictionaryObject], *, is_radio: bool) -> str:
    """Return the state of a box, and of a radio button only if it is the chosen one."""
    state = _resolved(line[0].get("/AS"))
    if state is None:
        state = _inherited(line, "/V")
    is_on = isinstance(state, NameObject) and state != "/Off"
    if not is_radio:
        return "[x]" if is_on else "[ ]"
    if not is_on:
        return ""
    options = _inherited(line, "/Opt")
    place = str(state)[1:]
    if isinstance(options, ArrayObject) and place.isdecimal() and int(place) < len(options):
        return _text(options[int(place)])
    return place


def _labels(options: object) -> dict[str, str]:
    """Return the text shown for each value of a list."""
    pairs = [_resolved(option) for option in options] if isinstance(options, ArrayObject) else []
    return {_text(pair[0]): _text(pair[1]) for pair in pairs if isinstance(pair, ArrayObject) and len(pair) == 2}


def _inherited(line: list[DictionaryObject], key: str) -> PdfObject | None:
    return next((_resolved(field[key]) for field in line if key in field), None)


def _file_name(file: PdfObject | None) -> str:
    return (_text(file.get("/UF")) or _text(file.get("/F"))) if isinstance(file, DictionaryObject) else _text(file)


def _resolved(value: PdfObject | None) -> PdfObject | None:
    return None if value is None else value.get_object()


def _number(value: PdfObject | None) -> int:
    found = _resolved(value)
    return int(found) if isinstance(found, int | float) else 0


def _text(value: PdfObject | None) -> str:
    found = _resolved(value)
    content = found.get_data() if isinstance(found, StreamObject) else found
    text = content.decode("utf-8", "replace") if isinstance(content, bytes) else content
    if not isinstance(text, str):
        return ""
    return (text[1:] if isinstance(text, NameObject) else text).replace("\r\n", "\n").replace("\r", "\n").strip()


def _xfa_lines(xml: bytes) -> Iterator[str]:
    """Yield "name: value" of each element with text. Raises for a document type, which could define entities."""
    if len(xml) > MAX_XML_BYTES or b"<!DOCTYPE" in xml:
        raise ValueError("the form's data is too large or has a document type")
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True)
    for number, element in enumerate(etree.fromstring(xml, parser).iter(etree.Element)):
        if number > MAX_FIELDS:
            raise ValueError("the form has too many fields")
        if len(element) == 0 and (value := (element.text or "").strip()):
            yield f"{etree.QName(element).localname}: {value}"
