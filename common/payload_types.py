from datetime import datetime
from typing import Annotated, Any, Generic, NotRequired, TypeAlias, TypedDict, TypeVar

import msgspec

Item = TypeVar("Item")

# Times are of UTC, in ISO 8601.
Moment = Annotated[datetime, msgspec.Meta(tz=True)]

# Any value that `json.loads` returns.
Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"

# A JSON object whose keys are not fixed here: a JSON column, or a fragment of JSON Schema.
JsonObject: TypeAlias = dict[str, Any]


class ErrorPayload(TypedDict):
    """Every refusal: a stable code for programs, a sentence for a person, and what is wrong with which field.

    `challenge` comes with the code `proof_required`, `page` with `terms_not_accepted`.
    """

    code: str
    detail: str
    fields: NotRequired[dict[str, list[str]]]
    challenge: NotRequired[JsonObject]
    page: NotRequired[str]


class Page(TypedDict, Generic[Item]):
    """One page of a list, as common.api.pagination makes it."""

    count: int | None
    next: str | None
    previous: str | None
    results: list[Item]
