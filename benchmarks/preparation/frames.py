"""Requests to the rendering child, and its replies: one MessagePack value after another."""

import msgspec

from common.payload_types import JsonObject

MAX_CHARACTERS = 200_000


class PromptSource(msgspec.Struct):
    id: int
    label: str
    # [{"role": …, "template": …}]
    messages: list[JsonObject]
    turns: list[str]


class CaseSource(msgspec.Struct):
    id: int
    key: str
    variables: JsonObject
    expected: object
    messages: list[JsonObject] | None = None
    # Names by variable.
    files: dict[str, str] = {}


class RenderRequest(msgspec.Struct, tag=True):
    prompts: list[PromptSource]
    cases: list[CaseSource]
    # JSON Schema of the variables; empty: anything.
    schema: JsonObject
    max_characters: int = MAX_CHARACTERS


class RenderedSource(msgspec.Struct):
    prompt: int
    case: int
    messages: list[JsonObject]
    turns: list[str]
    digest: str
    characters: int


class CaseProblem(msgspec.Struct, frozen=True):
    """Why a case cannot be prepared: its prompt, a check's target, or a rule.

    line, column: in the template, from 1; 0 if unknown.
    """

    case: str
    problem: str
    prompt: str = ""
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        place = f"{self.prompt}, {self.line}:{self.column}: " if self.line else ""
        return f"{self.case}: {place}{self.problem}"


class CaseResult(msgspec.Struct):
    rendered: list[RenderedSource]
    problems: list[CaseProblem]


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
