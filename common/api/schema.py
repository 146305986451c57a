"""How an app describes its part of the API: what each call takes, gives and refuses. arena_site.openapi reads it."""

from collections.abc import Mapping
from dataclasses import dataclass

from rest_framework.serializers import BaseSerializer

from common.api.pagination import ArenaPagination
from common.errors import ArenaError
from common.payload_types import JsonObject


@dataclass(frozen=True)
class Parameter:
    """One of the query's, or of the address. `schema`: JSON Schema of its value."""

    name: str
    description: str
    schema: JsonObject
    required: bool = False
    location: str = "query"


@dataclass(frozen=True)
class File:
    """An answer that is no JSON."""

    media_type: str


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One method at one address.

    The JSON and its status are in the return annotation of the view's method.
    files: what else comes with `status`: Files, and of a file of JSON the TypedDict that it holds.
    takes: the JSON body; `example`: one that works as it stands.
    refuses: beside what everything refuses (see arena_site.openapi.schema).
    """

    summary: str
    description: str = ""
    files: tuple[type | File, ...] = ()
    status: int = 200
    takes: type[BaseSerializer[None]] | None = None
    example: JsonObject | None = None
    parameters: tuple[Parameter, ...] = ()
    refuses: tuple[type[ArenaError], ...] = ()


# By the view's class and the name of its method.
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
