"""Requests to `benchmarks.preparation.text_child`, and its replies."""

import msgspec

from benchmarks.preparation.frames import MAX_CHARACTERS
from common.payload_types import JsonObject


class TextsOfCase(msgspec.Struct):
    key: str
    variables: JsonObject
    expected: object
    own: list[str]


class RenderTexts(msgspec.Struct, tag=True):
    templates: list[str]
    cases: list[TextsOfCase]
    max_characters: int = MAX_CHARACTERS


class Examine(msgspec.Struct, tag=True):
    """Finds templates, by position, and schemas that cannot be used."""

    templates: dict[str, str]
    schema: JsonObject


class Texts(msgspec.Struct):
    """Rendered texts of a case, the own ones last, or the reason why there are none."""

    texts: list[str]
    problem: str = ""


class Examined(msgspec.Struct):
    problems: dict[str, str]
