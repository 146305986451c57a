"""Requests to `benchmarks.preparation.text_child`, and its replies."""

import msgspec

from benchmarks.preparation.frames import MAX_CHARACTERS
from common.payload_types import JsonObject


class TextsOfCase(msgspec.Struct):
    """A case with its own templates, beside those of all cases."""

    key: str
    variables: JsonObject
    expected: object
    own: list[str]


class RenderTexts(msgspec.Struct, tag=True):
    templates: list[str]
    cases: list[TextsOfCase]
    max_characters: int = MAX_CHARACTERS


class Examine(msgspec.Struct, tag=True):
    """Finds templates that do not parse, by position, and whether a JSON Schema is usable."""

    templates: dict[str, str]
    schema: JsonObject


class Texts(msgspec.Struct):
    """Rendered texts of a case in the order of the request, the own ones last; or the reason why there are none."""

    texts: list[str]
    problem: str = ""


class Examined(msgspec.Struct):
    problems: dict[str, str]
