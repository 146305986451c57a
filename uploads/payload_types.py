from typing import Literal, TypedDict

from common.payload_types import Moment

UploadKind = Literal["document", "image"]
UploadState = Literal["extracting", "ready", "failed"]


class UploadPayload(TypedDict):
    """`media_type` is detected from the content; `pages` and `characters` describe the text once it is ready.

    `error` says why the file cannot be used.
    """

    id: str
    name: str
    media_type: str
    kind: UploadKind
    size: int
    sha256: str
    state: UploadState
    pages: int | None
    characters: int | None
    error: str | None
    created_at: Moment
