"""From the apps' operations to OpenAPI. Imported when somebody asks for the schema, not at a start."""

from collections import defaultdict
from collections.abc import Iterable
from itertools import product
from typing import Any

import msgspec
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse
from uritemplate import variables

import accounts.api.schema
import battles.api.schema
import leaderboard.api.schema
import models_registry.api.schema
import uploads.api.schema
from accounts.api.authentication import IsMemberInBrowser
from accounts.errors import Banned, IdempotencyKeyReused, StillRunning
from accounts.models import Scope
from common.api.schema import LIMIT, OFFSET, TEXT, Error, File, Operation, Operations, Parameter
from common.errors import (
    ArenaError,
    InvalidInput,
    NotAllowed,
    NotFound,
    NotSignedIn,
    ServiceAway,
    TooLarge,
    TooManyRequests,
    UnsupportedMediaType,
)

OPERATIONS: Operations = {
    **models_registry.api.schema.OPERATIONS,
    **battles.api.schema.OPERATIONS,
    **uploads.api.schema.OPERATIONS,
    **leaderboard.api.schema.OPERATIONS,
    **accounts.api.schema.OPERATIONS,
}
_REFERENCE = "#/components/schemas/{name}"
_IDEMPOTENCY_KEY = Parameter(
    "Idempotency-Key",
    "Repeats safely for 24 hours: the same key and body give the first result again.",
    {"type": "string", "maxLength": 255},
    location="header",
)


class Undescribed(LookupError):
    """A view's method is missing in its app's api_operations.py."""


class NamedTwice(ValueError):
    """What is taken and what is given would be the same component."""


class ArenaSchema(AutoSchema):
    """drf-spectacular's reading of addresses and input; the rest is said by the apps."""

    @property
    def operation(self) -> Operation:
        view: Any = self.view
        method = getattr(view, "action", None) or self.method.lower()
        try:
            return OPERATIONS[type(view), method]
        except KeyError:
            raise Undescribed(f"{type(view).__module__}.{type(view).__name__}.{method} is not described") from None

    @property
    def scope(self) -> str:
        """What a token needs; "" where none will do."""
        view: Any = self.view
        if IsMemberInBrowser in view.permission_classes or self.method in getattr(view, "in_browser", ()):
            return ""
        return str(getattr(view, "scopes", {}).get(self.method, Scope.READ))

    def get_summary(self) -> str:
        return self.operation.summary

    def get_description(self) -> str:  # type: ignore[override]
        """With the scope, which Swagger UI keeps to itself."""
        needs = f"A token needs the scope `{self.scope}`." if self.scope else ""
        return "\n\n".join(part for part in (self.operation.description, needs) if part)

    def get_tags(self) -> list[str]:
        return [self._tokenize_path()[0]]

    def get_auth(self) -> list[dict[str, list[str]]]:
        """A token with the scope, a browser, or nobody; a few want a browser's session."""
        return [{"token": [self.scope]}, {"browser": []}, {}] if self.scope else [{"browser": []}]

    def get_operation_id(self) -> str:
        words = [word.replace("-", "_").replace(".", "_") for word in self._tokenize_path()]
        verb = "list" if self.operation.is_list else self.method_mapping[self.method.lower()]
        return "_".join([*words, verb])

    def get_request_serializer(self) -> Any:
        return self.operation.takes

    def get_examples(self) -> list[OpenApiExample]:
        example = self.operation.example
        return [] if example is None else [OpenApiExample("An example", value=dict(example), request_only=True)]

    def get_override_parameters(self) -> list[Any]:
        said = self.operation
        parameters = [*said.parameters, *([LIMIT, OFFSET] if said.is_list else ())]
        described = {one.name for one in parameters}
        parameters += [
            Parameter(name, "Its id.", TEXT, required=True, location="path")
            for name in variables(self.path)
            if name not in described
        ]
        if self.method == "POST":
            parameters.append(_IDEMPOTENCY_KEY)
        return [
            OpenApiParameter(
                one.name, dict(one.schema), one.location, required=one.required, description=one.description
            )
            for one in parameters
        ]

    def get_response_serializers(self) -> Any:
        said = self.operation
        given = said.gives if isinstance(said.gives, tuple) else (said.gives,)
        found: dict[Any, OpenApiResponse] = {}
        for status, what in product((said.status, *said.also), given):
            if isinstance(what, File):
                schema, media_type = {"type": "string"}, what.media_type.partition(";")[0]
            else:
                schema, media_type = _given(what, is_list=said.is_list), "application/json"
            found[status, media_type] = OpenApiResponse(schema, said.summary)
        for status, errors in _by_status(self._refusals()).items():
            words = "\n".join(f"- `{error.code}`: {error.message}" for error in errors)
            examples = [OpenApiExample(error.code, value=_as_refused(error)) for error in errors]
            found[status, "application/json"] = OpenApiResponse(_reference(Error), words, examples=examples)
        return found

    def _refusals(self) -> list[type[ArenaError]]:
        said = self.operation
        refusals: list[type[ArenaError]] = [InvalidInput, NotSignedIn, NotAllowed]
        if "{" in self.path or NotFound in said.refuses:
            refusals.append(NotFound)
        if self.method == "POST":
            refusals += [StillRunning, IdempotencyKeyReused]
        if self.method != "GET":
            refusals.append(Banned)
        if said.takes:
            refusals += [TooLarge, UnsupportedMediaType]
        return list(dict.fromkeys([*refusals, *said.refuses, TooManyRequests, ServiceAway]))

    def _is_list_view(self, serializer: Any = None) -> bool:
        return False  # lists are described as what they are


class ArenaGenerator(SchemaGenerator):
    """Gives ArenaSchema to each view itself: as DRF's default it would be imported with the first ViewSet."""

    def create_view(self, callback: Any, method: str, request: Any = None) -> Any:
        view = super().create_view(callback, method, request)  # type: ignore[no-untyped-call]
        self._set_schema_to_view(view, ArenaSchema())  # type: ignore[no-untyped-call]
        return view


def _as_refused(error: type[ArenaError]) -> dict[str, Any]:
    return {"code": error.code, "detail": str(error.message)}


def _given(what: Any, *, is_list: bool) -> Any:
    if what is None:
        return None
    if not is_list:
        return _reference(what)
    address = {"type": ["string", "null"], "format": "uri"}
    return {
        "type": "object",
        "required": ["count", "next", "previous", "results"],
        "properties": {
            "count": {"type": ["integer", "null"]},
            "next": address,
            "previous": address,
            "results": {"type": "array", "items": _reference(what)},
        },
    }


def _reference(shape: type) -> dict[str, str]:
    return {"$ref": _REFERENCE.format(name=shape.__name__)}


def _by_status(errors: Iterable[type[ArenaError]]) -> dict[int, list[type[ArenaError]]]:
    found: dict[int, list[type[ArenaError]]] = defaultdict(list)
    for error in errors:
        found[error.http_status].append(error)
    return dict(sorted(found.items()))


def add_shapes(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """drf-spectacular's hook: the components that the operations refer to."""
    shapes: set[type] = {Error}
    for operation in OPERATIONS.values():
        given = operation.gives if isinstance(operation.gives, tuple) else (operation.gives,)
        shapes.update(shape for shape in given if isinstance(shape, type))
    ordered = sorted(shapes, key=lambda shape: shape.__name__)
    _references, components = msgspec.json.schema_components(ordered, ref_template=_REFERENCE)
    taken = result.setdefault("components", {}).setdefault("schemas", {})
    if both := sorted(taken.keys() & components.keys()):
        raise NamedTwice(f"a serializer and a shape are both called {', '.join(both)}")
    taken.update(components)
    return result
