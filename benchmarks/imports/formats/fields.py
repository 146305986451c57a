"""Fields of records, checked. All raise ReadError at the record's place."""

import base64
import binascii
import hashlib
import re
from collections.abc import Callable, Iterable

from benchmarks.imports.content import CaseFile, Message, Role
from benchmarks.imports.limits import MAX_CASE_FILE_BYTES, MAX_CHAT_MESSAGES
from benchmarks.imports.readers.json_rows import decode
from benchmarks.imports.readers.rows import Row
from benchmarks.imports.readers.values import as_text
from benchmarks.imports.reading_log import Place, ReadError, ReadingLog
from uploads.reading.sniffing import detect_type

# Reading cannot go on after these.
FATAL = ("too_many_cases", "too_many_replies", "too_many_errors")
_ROLES: dict[str, Role] = {
    "system": "system", "developer": "system", "user": "user", "human": "user", "assistant": "assistant",
}  # fmt: skip
_DATA = re.compile(r"data:(?:[\w.+-]+/[\w.+-]+)?(?:;charset=[\w-]+)?;base64,(?P<content>[A-Za-z0-9+/=\s]*)\Z")


def for_each(rows: Iterable[Row], handle: Callable[[Row], None], log: ReadingLog) -> None:
    """Handle every row; errors of single rows go to the log."""
    for row in rows:
        try:
            handle(row)
        except ReadError as error:
            if error.code in FATAL:
                raise
            log.refuse_error(error)


def required(row: Row, name: str) -> object:
    value = row.cells.get(name)
    if value is None or value == "":
        raise ReadError("field_missing", row.place(name), field=name)
    return value


def required_text(row: Row, name: str) -> str:
    value = required(row, name)
    if isinstance(value, dict | list):
        raise ReadError("field_is_no_text", row.place(name), field=name)
    return as_text(value)


def text(row: Row, name: str) -> str:
    value = row.cells.get(name)
    if isinstance(value, dict | list):
        raise ReadError("field_is_no_text", row.place(name), field=name)
    return as_text(value)


def texts(row: Row, name: str) -> list[str]:
    """Return a list of texts; one text is a list of one, and nothing is an empty list."""
    value = row.cells.get(name)
    if value is None or value == "":
        return []
    parts = value if isinstance(value, list) else [value]
    if any(isinstance(part, dict | list) for part in parts):
        raise ReadError("field_is_no_list_of_texts", row.place(name), field=name)
    return [as_text(part) for part in parts]


def required_texts(row: Row, name: str) -> list[str]:
    required(row, name)
    return texts(row, name)


def mapping(row: Row, name: str) -> dict[str, object]:
    """Return an object; in a table's cell it is JSON."""
    value = nested(row, name)
    if value is None or value == "":
        return {}
    if not isinstance(value, dict):
        raise ReadError("field_is_no_object", row.place(name), field=name)
    return value


def nested(row: Row, name: str) -> object:
    """Return a value; text of a table's cell that looks like JSON is decoded."""
    value = row.cells.get(name)
    if row.columns and isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        return decode(value, row.place(name))
    return value


def with_decoded(row: Row, *names: str) -> Row:
    """Return the row with lists and objects in place of JSON in these cells."""
    return row._replace(cells=row.cells | {name: nested(row, name) for name in names if name in row.cells})


def messages(value: object, place: Place, log: ReadingLog) -> tuple[list[Message], list[CaseFile]]:
    """Return a chat; its pictures become files. A last message of the system is sent as the user's."""
    files = list[CaseFile]()
    chat = _messages(value, files, place)
    if chat[-1].role == "system":
        log.changed("system_message_as_user", place)
        chat[-1] = Message("user", chat[-1].text)
    if chat[-1].role != "user":
        raise ReadError("last_message_is_not_the_users", place)
    return chat, files


def examples(value: object, place: Place) -> list[Message]:
    """Return messages that stand in the middle of a chat."""
    return _messages(value, [], place)


def _messages(value: object, files: list[CaseFile], place: Place) -> list[Message]:
    if not isinstance(value, list) or not value:
        raise ReadError("messages_not_understood", place)
    if len(value) > MAX_CHAT_MESSAGES:
        raise ReadError("too_many_messages", place, limit=MAX_CHAT_MESSAGES, found=len(value))
    chat = []
    for message in value:
        name = message.get("role", message.get("from")) if isinstance(message, dict) else None
        role = _ROLES.get(name) if isinstance(name, str) else None
        if files:
            raise ReadError("files_in_earlier_message", place)
        if role is None or message.get("tool_calls") or message.get("function_call"):
            raise ReadError("messages_not_understood", place)
        content = message.get("content", message.get("value"))
        chat.append(Message(role, _content(content, files, place)))
    return chat


def _content(content: object, files: list[CaseFile], place: Place) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise ReadError("messages_not_understood", place)
    parts = []
    for part in content:
        kind = part.get("type") if isinstance(part, dict) else None
        if kind == "text" and isinstance(part.get("text"), str):
            parts.append(part["text"])
        elif kind in ("image", "image_url"):
            url = part.get("image") or part.get("image_url")
            url = url.get("url") if isinstance(url, dict) else url
            files.append(data_file(url, f"image-{len(files) + 1}", place))
        else:
            raise ReadError("content_not_supported", place, kind=as_text(kind))
    return "\n".join(parts)


def data_file(url: object, name: str, place: Place) -> CaseFile:
    """Return the file in a data: address; others would have to be fetched."""
    match = _DATA.match(url) if isinstance(url, str) else None
    if match is None:
        raise ReadError("file_is_no_data", place, file=name)
    try:
        content = base64.b64decode(match["content"], validate=False)
    except binascii.Error as error:
        raise ReadError("file_is_no_data", place, file=name) from error
    return case_file("files", name, content, place)


def case_file(variable: str, name: str, content: bytes, place: Place) -> CaseFile:
    """Return a file that uploads would take, too."""
    if len(content) > MAX_CASE_FILE_BYTES:
        raise ReadError("case_file_too_large", place, file=name, limit=MAX_CASE_FILE_BYTES)
    if detect_type(content, name) is None:
        raise ReadError("case_file_type_unknown", place, file=name)
    return CaseFile(variable, name, hashlib.sha256(content).hexdigest(), content)


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
