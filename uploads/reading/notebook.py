"""Texts of Jupyter notebooks. No Django: only the guarded child process uses it (uploads.reading.child)."""

import json
import re
from collections import Counter
from collections.abc import Iterator

from common.text.storable import storable
from uploads.reading.findings import MAX_CHARACTERS, Note, NoteKind, Reason, Text, Unreadable
from uploads.reading.markup import read_page

READER = "json"
_TERMINAL_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
# A picture that is part of the text, as data or as an attachment of its cell.
_PICTURE = re.compile(r"(!\[[^\]]*\]\()(?:data:image/[^)]*|attachment:[^)]*)\)")
# Kinds of an output from the most to the least readable.
_TEXT_OUTPUTS = ("text/markdown", "text/plain", "text/latex", "application/json", "text/html")
_FENCE = re.compile(r"^\s*(`{3,})", re.MULTILINE)

# Names of kinds in version 3.
_OLD_KINDS = {
    "png": "image/png", "jpeg": "image/jpeg", "svg": "image/svg+xml", "html": "text/html", "text": "text/plain",
}  # fmt: skip

JsonObject = dict[str, object]


def extract_text(content: bytes) -> Text:
    """Return the cells in order as Markdown; code and outputs are in fences. Raises Unreadable."""
    try:
        notebook = _object(json.loads(content))  # notebooks may have NaN, which is no JSON
    except ValueError as error:
        raise Unreadable(Reason.DAMAGED) from error
    found: Counter[NoteKind] = Counter()
    parts, characters = [], 0
    for part in _parts(notebook, found):
        parts.append(part)
        characters += len(part)
        if characters > MAX_CHARACTERS:
            raise Unreadable(Reason.TOO_LONG)
    text = storable("\n\n".join(parts)).strip("\n")
    if not text.strip():
        raise Unreadable(Reason.NO_TEXT)
    return Text([text], READER, [Note(kind, found[kind]) for kind in NoteKind if found[kind]])


def _parts(notebook: JsonObject, found: Counter[NoteKind]) -> Iterator[str]:
    language = _language(notebook)
    for cell in _cells(notebook):
        source = _joined(cell.get("source", cell.get("input")))
        match cell.get("cell_type"):
            case "code":
                yield from [_fenced(source, language)] if source.strip() else []
                for output in _objects(cell.get("outputs")):
                    yield from _output(output, found)
            case "heading":  # of version 3
                yield f"{'#' * int(str(cell.get('level', 1)))} {source}"
            case _:
                text, pictures = _PICTURE.subn(r"\1…)", source)
                found[NoteKind.PICTURES_LEFT_OUT] += pictures
                yield from [text] if text.strip() else []


def _cells(notebook: JsonObject) -> list[JsonObject]:
    sheets = _objects(notebook.get("worksheets"))  # of version 3
    return _objects(notebook.get("cells")) + [cell for sheet in sheets for cell in _objects(sheet.get("cells"))]


def _language(notebook: JsonObject) -> str:
    described = _object(notebook.get("metadata"))
    names = (_object(described.get("language_info")).get("name"), _object(described.get("kernelspec")).get("language"))
    return next((name for name in names if isinstance(name, str) and name.isascii() and name.isalnum()), "python")


def _output(output: JsonObject, found: Counter[NoteKind]) -> Iterator[str]:
    """Yield the text of an output; count the others."""
    kind = output.get("output_type")
    if kind == "stream":
        text = _joined(output.get("text"))
    elif kind in ("error", "pyerr"):
        text = _joined(output.get("traceback"), "\n") or f"{output.get('ename')}: {output.get('evalue')}"
    else:
        data = _object(output.get("data")) or {_OLD_KINDS.get(key, key): value for key, value in output.items()}
        has_picture = any(str(key).startswith("image/") for key in data)
        found[NoteKind.PICTURES_LEFT_OUT] += int(has_picture)
        named = next((name for name in _TEXT_OUTPUTS if data.get(name)), "")
        text = _joined(data.get(named)) if named != "application/json" else json.dumps(data[named], ensure_ascii=False)
        if named == "text/html":
            text = read_page(text).text
        is_other = any("/" in str(key) and not str(key).startswith(("image/", "text/")) for key in data)
        found[NoteKind.OUTPUTS_LEFT_OUT] += int(is_other and not text)
        if has_picture and text.startswith("<"):
            text = ""  # only the name of the picture's object
    text = _TERMINAL_COLOUR.sub("", text).strip("\n")
    if text.strip():
        yield "Output:\n" + _fenced(text)


def _fenced(text: str, language: str = "") -> str:
    fence = "`" * max(3, *(len(run) + 1 for run in _FENCE.findall(text)), 3)
    return f"{fence}{language}\n{text.strip(chr(10))}\n{fence}"


def _joined(value: object, separator: str = "") -> str:
    if isinstance(value, list):
        return separator.join(line for line in value if isinstance(line, str))
    return value if isinstance(value, str) else ""


def _object(value: object) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _objects(value: object) -> list[JsonObject]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
