from typing import Literal, TypedDict

from common.payload_types import Moment

UploadKind = Literal["document", "image"]
UploadState = Literal["extracting", "ready", "failed"]


class UploadPayload(TypedDict):
    """A file as it came. `media_type` is what its content is; `pages` and `characters` are of its text, once it was
    read. `error` says why it cannot be used."""

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
