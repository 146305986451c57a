"""Requests to `benchmarks.preparation.text_child`, and its replies."""

import msgspec

from benchmarks.preparation.frames import MAX_CHARACTERS, CaseProblem, CaseSource, PromptSource
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
    """Finds templates, by position, and schemas that cannot be used, and cases that cannot be rendered."""

    templates: dict[str, str]
    schema: JsonObject
    prompts: list[PromptSource] = []
    cases: list[CaseSource] = []


class Texts(msgspec.Struct):
    """Rendered texts of a case, the own ones last, or the reason why there are none."""

    texts: list[str]
    problem: str = ""


class Examined(msgspec.Struct):
    """cases: only if there are no other problems."""

    problems: dict[str, str]
    cases: list[CaseProblem] = []
