from typing import Literal, TypedDict

from common.payload_types import Moment

UploadKind = Literal["document", "image"]
UploadState = Literal["extracting", "ready", "failed"]


class UploadNote(TypedDict):
    """`message` is the sentence for people; `count` is how often, or null; `detail` a name from the file, or ""."""

    kind: str
    count: int | None
    detail: str
    message: str


class UploadPayload(TypedDict):
    """`media_type` is detected from the content; `pages` and `characters` describe the text once it is ready.

    While a long document is being read, `pages_read` of its `pages` have been; then it is null. `encoding` is a plain
    text's. `notes` say what models do not receive, and what was assumed. `error` says why the file cannot be used.
    """

    id: str
    name: str
    media_type: str
    kind: UploadKind
    size: int
    sha256: str
    state: UploadState
    pages: int | None
    pages_read: int | None
    characters: int | None
    encoding: str | None
    notes: list[UploadNote]
    error: str | None
    created_at: Moment
