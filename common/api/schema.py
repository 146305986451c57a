"""Description of API operations by apps, for arena_site.openapi."""

from collections.abc import Mapping
from dataclasses import dataclass

from rest_framework.serializers import BaseSerializer

from common.api.pagination import ArenaPagination
from common.errors import ArenaError
from common.payload_types import JsonObject


@dataclass(frozen=True)
class Parameter:
    """Query or path parameter. `schema`: JSON Schema of its value."""

    name: str
    description: str
    schema: JsonObject
    required: bool = False
    location: str = "query"


@dataclass(frozen=True)
class File:
    """Response body that is not JSON."""

    media_type: str

    @property
    def schema(self) -> JsonObject:
        is_text = self.media_type.startswith(("text/", "application/jsonl"))
        return {"type": "string"} if is_text else {"type": "string", "format": "binary"}


@dataclass(frozen=True, kw_only=True)
class Operation:
    """Description of one method of one endpoint.

    The return annotation of the view's method states the JSON payload and its status.
    files: other bodies with `status`: Files, or the TypedDict in a file of JSON.
    takes: serializer of the JSON body; `example`: a valid body.
    refuses: errors beside those of all operations (arena_site.openapi.schema).
    """

    summary: str
    description: str = ""
    files: tuple[type | File, ...] = ()
    status: int = 200
    takes: type[BaseSerializer[None]] | None = None
    example: JsonObject | None = None
    parameters: tuple[Parameter, ...] = ()
    refuses: tuple[type[ArenaError], ...] = ()


# Keys: (view class, name of its method).
Operations = Mapping[tuple[type, str], Operation]

TEXT = {"type": "string"}


def one_of(*words: str) -> JsonObject:
    return {"type": "string", "enum": list(words)}


LIMIT = Parameter(
    "limit",
    "How many at most.",
    {"type": "integer", "minimum": 1, "maximum": ArenaPagination.max_limit, "default": ArenaPagination.default_limit},
)
OFFSET = Parameter(
    "offset",
    "How many to pass over.",
    {"type": "integer", "minimum": 0, "maximum": ArenaPagination.max_offset, "default": 0},
)
