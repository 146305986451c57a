"""OpenAPI from the apps' operations. Imported by the first request for it: spectacular is slow to import."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from types import UnionType
from typing import Any, NamedTuple, Union, get_args, get_origin, get_type_hints

import msgspec
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse
from uritemplate import variables

import accounts.api.schema
import arena_site.teams.schema
import battles.api.schema
import benchmarks.api.schema
import leaderboard.api.schema
import metrics.api.schema
import models_registry.api.schema
import reviews.api.schema
import routing.api.schema
import site_content.api.schema
import uploads.api.schema
from accounts.api.authentication import IsMemberInBrowser
from accounts.errors import Banned, IdempotencyKeyReused, StillRunning
from accounts.models import Scope
from common.api.schema import LIMIT, OFFSET, TEXT, File, Operation, Operations, Parameter
from common.api_responses import NoContent, PayloadResponse
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
from common.payload_types import ErrorPayload, JsonObject, Page

OPERATIONS: Operations = {
    **models_registry.api.schema.OPERATIONS,
    **site_content.api.schema.OPERATIONS,
    **battles.api.schema.OPERATIONS,
    **uploads.api.schema.OPERATIONS,
    **leaderboard.api.schema.OPERATIONS,
    **benchmarks.api.schema.OPERATIONS,
    **reviews.api.schema.OPERATIONS,
    **routing.api.schema.OPERATIONS,
    **accounts.api.schema.OPERATIONS,
    **metrics.api.schema.OPERATIONS,
    **arena_site.teams.schema.OPERATIONS,
}
_REFERENCE = "#/components/schemas/{name}"
_IDEMPOTENCY_KEY = Parameter(
    "Idempotency-Key",
    "Repeats safely for 24 hours: the same key and body give the first result again.",
    {"type": "string", "maxLength": 255},
    location="header",
)


class MissingOperation(LookupError):
    """Raised when a view's method is missing in `api/schema.py` of its app."""


class DuplicateComponent(ValueError):
    """Raised when a serializer and a payload have the same component name."""


class Body(NamedTuple):
    """JSON of a response. `payload_type`: its TypedDict or a union, or that of a list's items; None without a body."""

    status: int
    payload_type: type | UnionType | None
    is_list: bool = False

    def schema(self) -> JsonObject | None:
        if self.payload_type is None:
            return None
        if not self.is_list:
            return _reference(self.payload_type)
        address = {"type": ["string", "null"], "format": "uri"}
        return {
            "type": "object",
            "required": ["count", "next", "previous", "results"],
            "properties": {
                "count": {"type": ["integer", "null"]},
                "next": address,
                "previous": address,
                "results": {"type": "array", "items": _reference(self.payload_type)},
            },
        }


def bodies_of(view: type, method: str) -> list[Body]:
    """Read the bodies from the method's return annotation, which names one response or a union of them."""
    annotation = get_type_hints(getattr(view, method))["return"]
    is_union = get_origin(annotation) in (Union, UnionType)
    return [body for response in (get_args(annotation) if is_union else [annotation]) for body in _body(response)]


def _body(annotation: Any) -> Iterator[Body]:
    """Yield the body; none for files, which the apps' operations describe."""
    response = get_origin(annotation) or annotation
    if issubclass(response, NoContent):
        yield Body(response.status, None)
    elif issubclass(response, PayloadResponse):
        [payload_type] = get_args(annotation)
        is_list = get_origin(payload_type) is Page
        yield Body(response.status, get_args(payload_type)[0] if is_list else payload_type, is_list)


class ArenaSchema(AutoSchema):
    """Paths and input from drf-spectacular, everything else from the apps' operations."""

    @property
    def operation(self) -> Operation:
        view = type(self.view)
        try:
            return OPERATIONS[view, self._handler]
        except KeyError:
            raise MissingOperation(f"{view.__module__}.{view.__name__}.{self._handler} is not described") from None

    @property
    def _handler(self) -> str:
        return getattr(self.view, "action", None) or str(self.method).lower()

    @property
    def bodies(self) -> list[Body]:
        return bodies_of(type(self.view), self._handler)

    @property
    def is_list(self) -> bool:
        return any(body.is_list for body in self.bodies)

    @property
    def scope(self) -> str:
        """Scope that a token needs; "" where tokens are not accepted."""
        view = self.view
        if IsMemberInBrowser in view.permission_classes or self.method in getattr(view, "in_browser", ()):
            return ""
        return str(getattr(view, "scopes", {}).get(self.method, Scope.READ))

    def get_summary(self) -> str:
        return self.operation.summary

    def get_description(self) -> str:  # type: ignore[override]
        """Append the required scope; Swagger UI does not show it."""
        needs = f"A token needs the scope `{self.scope}`." if self.scope else ""
        return "\n\n".join(part for part in (self.operation.description, needs) if part)

    def get_tags(self) -> list[str]:
        return [self._tokenize_path()[0]]

    def get_auth(self) -> list[dict[str, list[str]]]:
        """Return the alternatives: a token with the scope, a browser, or none; a few operations need a browser."""
        return [{"token": [self.scope]}, {"browser": []}, {}] if self.scope else [{"browser": []}]

    def get_operation_id(self) -> str:
        words = [word.replace("-", "_").replace(".", "_") for word in self._tokenize_path()]
        verb = "list" if self.is_list else self.method_mapping[self.method.lower()]
        return "_".join([*words, verb])

    def get_request_serializer(self) -> Any:
        return self.operation.takes

    def get_examples(self) -> list[OpenApiExample]:
        example = self.operation.example
        return [] if example is None else [OpenApiExample("An example", value=dict(example), request_only=True)]

    def get_override_parameters(self) -> list[Any]:
        parameters = [*self.operation.parameters, *([LIMIT, OFFSET] if self.is_list else ())]
        described = {parameter.name for parameter in parameters}
        parameters += [
            Parameter(name, "Its id.", TEXT, required=True, location="path")
            for name in variables(self.path)
            if name not in described
        ]
        if self.method == "POST":
            parameters.append(_IDEMPOTENCY_KEY)
        return [
            OpenApiParameter(
                parameter.name,
                dict(parameter.schema),
                parameter.location,
                required=parameter.required,
                description=parameter.description,
            )
            for parameter in parameters
        ]

    def get_response_serializers(self) -> Any:
        operation = self.operation
        responses: dict[tuple[int, str], OpenApiResponse] = {}
        for body in self.bodies:
            responses[body.status, "application/json"] = OpenApiResponse(body.schema(), operation.summary)
        for file in operation.files:
            if isinstance(file, File):
                media_type, schema = file.media_type.partition(";")[0], file.schema
            else:
                media_type, schema = "application/json", _reference(file)
            responses[operation.status, media_type] = OpenApiResponse(schema, operation.summary)
        if not responses:
            responses[operation.status, "application/json"] = OpenApiResponse(None, operation.summary)
        for status, errors in _by_status(self._refusals()).items():
            description = "\n".join(f"- `{error.code}`: {error.message}" for error in errors)
            examples = [OpenApiExample(error.code, value=_error_payload(error)) for error in errors]
            responses[status, "application/json"] = OpenApiResponse(
                _reference(ErrorPayload), description, examples=examples
            )
        return responses

    def _refusals(self) -> list[type[ArenaError]]:
        operation = self.operation
        refusals: list[type[ArenaError]] = [InvalidInput, NotSignedIn, NotAllowed]
        if "{" in self.path or NotFound in operation.refuses:
            refusals.append(NotFound)
        if self.method == "POST":
            refusals += [StillRunning, IdempotencyKeyReused]
        if self.method != "GET":
            refusals.append(Banned)
        if operation.takes:
            refusals += [TooLarge, UnsupportedMediaType]
        return list(dict.fromkeys([*refusals, *operation.refuses, TooManyRequests, ServiceAway]))

    def _is_list_view(self, serializer: object = None) -> bool:
        return False  # Body describes lists


class ArenaGenerator(SchemaGenerator):
    """Sets ArenaSchema on each view; as DRF's default, every ViewSet would import it."""

    def create_view(self, callback: object, method: str, request: object = None) -> object:
        view = super().create_view(callback, method, request)  # type: ignore[no-untyped-call]
        self._set_schema_to_view(view, ArenaSchema())  # type: ignore[no-untyped-call]
        return view


def _error_payload(error: type[ArenaError]) -> ErrorPayload:
    return {"code": error.code, "detail": str(error.message)}


def _reference(payload_type: type | UnionType) -> JsonObject:
    if isinstance(payload_type, UnionType):
        return {"oneOf": [_reference(part) for part in get_args(payload_type)]}
    return {"$ref": _REFERENCE.format(name=_component(payload_type))}


def _component(payload_type: type) -> str:
    return payload_type.__name__.removesuffix("Payload")


def _by_status(errors: Iterable[type[ArenaError]]) -> dict[int, list[type[ArenaError]]]:
    grouped: dict[int, list[type[ArenaError]]] = defaultdict(list)
    for error in errors:
        grouped[error.http_status].append(error)
    return dict(sorted(grouped.items()))


def add_payload_components(result: JsonObject, **_: object) -> JsonObject:
    """Hook of drf-spectacular: add the components that the operations refer to."""
    payload_types: set[type] = {ErrorPayload}
    for handler, operation in OPERATIONS.items():
        bodies = [body.payload_type for body in bodies_of(*handler)]
        contents = (*bodies, *(part for body in bodies for part in get_args(body)), *operation.files)
        payload_types.update(content for content in contents if isinstance(content, type))
    ordered = sorted(payload_types, key=_component)
    _references, components = msgspec.json.schema_components(ordered, ref_template=_REFERENCE)
    # msgspec names components after their classes.
    encoded = re.sub(rb'(/schemas/\w+|"title":"\w+)Payload"', rb'\1"', msgspec.json.encode(components))
    existing = result.setdefault("components", {}).setdefault("schemas", {})
    for class_name, component in msgspec.json.decode(encoded).items():
        name = class_name.removesuffix("Payload")
        if name in existing:
            raise DuplicateComponent(f"two serializers or payloads are called {name}")
        existing[name] = component
    return result
