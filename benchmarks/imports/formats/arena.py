"""A template with its cases as YAML, as benchmarks.exports.template_yaml writes it."""

from collections.abc import Collection
from typing import Annotated, Literal, TypeVar

import msgspec

from benchmarks.imports.building import Cases
from benchmarks.imports.content import Case, Check, Imported, Message, Prompt, Template
from benchmarks.imports.formats.fields import FATAL
from benchmarks.imports.limits import (
    MAX_CHAT_MESSAGES,
    MAX_CHECKS,
    MAX_KEY,
    MAX_MESSAGES,
    MAX_PROMPTS,
    MAX_TEXT,
    MAX_TURNS,
)
from benchmarks.imports.readers.documents import Map, Seq, place_in
from benchmarks.imports.reading_log import Place, ReadError
from benchmarks.imports.source import Source

_Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
_Text = Annotated[str, msgspec.Meta(max_length=MAX_TEXT)]
_Name = Annotated[str, msgspec.Meta(max_length=MAX_KEY)]
_Roles = Literal["system", "user", "assistant"]


class _Check(msgspec.Struct):
    scorer: Annotated[str, msgspec.Meta(max_length=40)]
    key: Annotated[str, msgspec.Meta(max_length=80)] = ""
    target: list[object] | None = None
    settings: dict[str, object] = {}
    extract: list[dict[str, object]] = []
    weight: Annotated[float, msgspec.Meta(ge=0, le=1e6)] = 1
    negate: bool = False
    threshold: _Share | None = None
    is_gate: bool = False
    metric: Annotated[str, msgspec.Meta(max_length=80)] = ""

    def check(self) -> Check:
        return Check(**msgspec.structs.asdict(self) | {"key": self.key or self.scorer})


_Checks = Annotated[list[_Check], msgspec.Meta(max_length=MAX_CHECKS)]


class _Content(msgspec.Struct):
    role: _Roles
    content: _Text


class _Template(msgspec.Struct):
    role: _Roles
    template: _Text


class _Prompt(msgspec.Struct):
    messages: Annotated[list[_Template], msgspec.Meta(min_length=1, max_length=MAX_MESSAGES)]
    label: Annotated[str, msgspec.Meta(max_length=80)] = ""
    turns: Annotated[list[_Text], msgspec.Meta(max_length=MAX_TURNS)] = []

    def prompt(self) -> Prompt:
        return Prompt(self.label, [Message(message.role, message.template) for message in self.messages], self.turns)


class _Version(msgspec.Struct):
    prompts: Annotated[list[_Prompt], msgspec.Meta(min_length=1, max_length=MAX_PROMPTS)]
    name: _Name = ""
    description: _Text = ""
    checks: _Checks = []
    variables: dict[str, object] | None = None
    parameters: dict[str, object] = {}
    errors_count: Literal["missing", "wrong"] = "missing"
    threshold: _Share | None = None
    relevant_difference: _Share | None = None


class _Case(msgspec.Struct):
    key: str = ""
    variables: dict[str, object] = {}
    expected: list[object] = []
    messages: Annotated[list[_Content], msgspec.Meta(max_length=MAX_CHAT_MESSAGES)] | None = None
    checks: _Checks = []
    cluster: _Name = ""
    tags: list[_Name] = []
    metadata: dict[str, object] = {}
    weight: Annotated[float, msgspec.Meta(ge=1e-6, le=1e6)] = 1
    threshold: _Share | None = None

    def case(self) -> Case:
        messages = None
        if self.messages is not None:
            messages = [Message(message.role, message.content) for message in self.messages]
        checks = [check.check() for check in self.checks]
        return Case(**msgspec.structs.asdict(self) | {"messages": messages, "checks": checks})


_Part = TypeVar("_Part", _Version, _Case)


def is_arena(document: Map) -> bool:
    return {"prompts", "cases"} <= document.keys()


def read(source: Source) -> Imported:
    """Raises ReadError; errors of single cases go to the log."""
    document = source.document()
    if not isinstance(document, Map) or not is_arena(document):
        raise ReadError("format_unknown", Place(0, 0, source.main_in_report))
    version = _part(source, document, document.place, _Version, others={"cases"})
    cases, listed = Cases(source.log), document["cases"]
    for number, entry in enumerate(listed if isinstance(listed, Seq) else []):
        place = place_in(listed, number)
        try:
            cases.add(_part(source, entry, place, _Case).case(), place)
        except ReadError as error:
            if error.code in FATAL:
                raise
            source.log.refuse_error(error)
    return Imported("arena", [], {}, _template(source, version, cases))


def _template(source: Source, version: _Version, cases: Cases) -> Template:
    template = cases.template(
        source.request.name, [prompt.prompt() for prompt in version.prompts],
        [check.check() for check in version.checks], description=version.description, parameters=version.parameters,
    )  # fmt: skip
    template.name = version.name or template.name
    template.variables = template.variables if version.variables is None else version.variables
    template.errors_count, template.threshold = version.errors_count, version.threshold
    template.relevant_difference = version.relevant_difference
    return template


def _part(source: Source, value: object, place: Place, kind: type[_Part], *, others: Collection[str] = ()) -> _Part:
    """Return the converted value; unknown fields go to the log. Raises ReadError."""
    try:
        part = msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise ReadError("arena_part_not_understood", place, problem=str(error)) from error
    if isinstance(value, Map):
        for name in value.keys() - {*(field.name for field in msgspec.structs.fields(kind)), *others}:
            source.log.left_out("field_not_used", place_in(value, name), field=name)
    return part
