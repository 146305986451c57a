"""Parts of promptfoo's configuration that an arena's export wrote for the import: `arena` in metadata and config."""

from typing import Annotated, Literal, TypeVar

import msgspec

from benchmarks.imports.content import Case, Check, Message, Prompt, Template
from benchmarks.imports.limits import MAX_CHAT_MESSAGES, MAX_CHECKS, MAX_KEY, MAX_MESSAGES, MAX_TEXT, MAX_TURNS
from benchmarks.imports.readers.documents import Map, place_in
from benchmarks.imports.reading_log import ReadError

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
    label: Annotated[str, msgspec.Meta(max_length=80)]
    messages: Annotated[list[_Template], msgspec.Meta(min_length=1, max_length=MAX_MESSAGES)]
    turns: Annotated[list[_Text], msgspec.Meta(max_length=MAX_TURNS)] = []


class _Version(msgspec.Struct):
    name: _Name = ""
    checks: _Checks = []
    variables: dict[str, object] = {}
    parameters: dict[str, object] = {}
    errors_count: Literal["missing", "wrong"] = "missing"
    threshold: _Share | None = None
    relevant_difference: _Share | None = None


class _Case(msgspec.Struct):
    expected: list[object] = []
    messages: Annotated[list[_Content], msgspec.Meta(max_length=MAX_CHAT_MESSAGES)] | None = None
    checks: _Checks = []
    cluster: _Name = ""
    tags: list[_Name] = []
    weight: Annotated[float, msgspec.Meta(ge=1e-6, le=1e6)] = 1
    variables: dict[str, object] | None = None


_Part = TypeVar("_Part", _Version, _Prompt, _Case)


class ArenaVersion:
    """Fields of a version that promptfoo lacks; empty for files of others."""

    def __init__(self, document: Map) -> None:
        """Raises ReadError."""
        found = _part(document, "metadata", _Version)
        self._found = found or _Version()
        self.checks = [check.check() for check in self._found.checks]
        self.is_known = found is not None

    def complete(self, template: Template) -> None:
        found = self._found
        if self.is_known:
            template.name, template.parameters = found.name or template.name, found.parameters
            template.variables, template.checks = found.variables, [*self.checks, *template.checks]
            template.errors_count, template.threshold = found.errors_count, found.threshold
            template.relevant_difference = found.relevant_difference


def complete_prompt(entry: Map, prompt: Prompt) -> Prompt:
    """Return the exported prompt unless its text was changed. Raises ReadError."""
    found = _part(entry, "config", _Prompt)
    if found is None:
        return prompt
    messages = [Message(message.role, message.template) for message in found.messages]
    if prompt.messages != messages:
        return prompt
    return Prompt(found.label, messages, found.turns)


def is_exported(test: Map) -> bool:
    holder = test.get("metadata")
    return isinstance(holder, Map) and isinstance(holder.get("arena"), Map)


def complete_case(test: Map, case: Case) -> bool:
    """Add the exported fields, return whether there are any. Raises ReadError."""
    found = _part(test, "metadata", _Case)
    if found is None:
        return False
    case.metadata = {name: value for name, value in case.metadata.items() if name != "arena"}
    case.expected, case.cluster, case.tags, case.weight = found.expected, found.cluster, found.tags, found.weight
    case.checks = [*(check.check() for check in found.checks), *case.checks]
    if found.messages is not None:
        case.messages = [Message(message.role, message.content) for message in found.messages]
    if found.variables is not None:
        case.variables = found.variables
    return True


def _part(container: Map, name: str, kind: type[_Part]) -> _Part | None:
    holder = container.get(name)
    found = holder.get("arena") if isinstance(holder, Map) else None
    if not isinstance(found, Map):
        return None
    try:
        return msgspec.convert(found, kind)
    except msgspec.ValidationError as error:
        raise ReadError("arena_part_not_understood", place_in(holder, "arena"), problem=str(error)) from error


def is_marked(assertion: Map) -> bool:
    """Return whether an assertion repeats a check that stands under `arena`."""
    config = assertion.get("config")
    return isinstance(config, Map) and "arena" in config
