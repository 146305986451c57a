"""Cases as they are collected from any format: keys, limits and the schema of variables."""

import hashlib
import posixpath
from collections.abc import Sequence

from benchmarks.imports.content import Case, CaseFile, Check, Message, Prompt, Reply, Template
from benchmarks.imports.limits import MAX_CASE_FILES, MAX_CASES, MAX_KEY, MAX_REPLIES, MAX_TAG
from benchmarks.imports.readers.values import check_value
from benchmarks.imports.reading_log import Place, ReadError, ReadingLog

_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}


class Cases:
    """Cases with unique keys, and replies; keys of the file are refused when they repeat."""

    def __init__(self, log: ReadingLog) -> None:
        self.found: list[Case] = []
        self.replies: list[Reply] = []
        self._log = log
        self._keys: dict[str, Place] = {}

    def add(self, case: Case, place: Place) -> None:
        """Store a case under its own key, or its number. Raises ReadError for too many, and for too long texts."""
        if len(self.found) >= MAX_CASES:
            raise ReadError("too_many_cases", place, limit=MAX_CASES)
        messages = [message.text for message in case.messages or ()]
        check_value([case.variables, case.expected, case.metadata, messages], Place(place.line, 0, place.file))
        case.key = case.key.strip() or str(len(self.found) + 1)
        if len(case.key) > MAX_KEY:
            self._log.refuse("key_too_long", place, key=case.key, limit=MAX_KEY)
        elif case.key in self._keys:
            self._log.refuse("duplicate_case", place, key=case.key, line_of_first=self._keys[case.key].line)
        else:
            self._keys[case.key] = place
            case.tags = [tag[:MAX_TAG] for tag in dict.fromkeys(case.tags) if tag]
            case.cluster = short_key(case.cluster)
            case.files = list({file.digest: file for file in case.files}.values())
            if len(case.files) > MAX_CASE_FILES:
                self._log.refuse("too_many_case_files", place, limit=MAX_CASE_FILES)
            self.found.append(case)

    def add_titled(self, case: Case, place: Place) -> None:
        """Like `add`, for titles that are no identifiers: they are shortened and numbered."""
        title = case.key.strip()
        key = short_key(title)
        number = 2
        while key and key in self._keys:
            key = f"{title[: MAX_KEY - 8]} ({number})"
            number += 1
        if key != title:
            self._log.changed("key_made_unique", place, key=key)
        case.key = key
        self.add(case, place)

    def reply(self, reply: Reply, place: Place) -> None:
        if len(self.replies) >= MAX_REPLIES:
            raise ReadError("too_many_replies", place, limit=MAX_REPLIES)
        check_value(reply.text, place)
        self.replies.append(reply)

    def template(
        self, name: str, prompts: Sequence[Prompt], checks: Sequence[Check] = (), *, description: str = "",
        parameters: dict[str, object] | None = None,
    ) -> Template:  # fmt: skip
        """Raises ReadError when there is no case."""
        if not self.found and not self._log.counts["refused"]:
            raise ReadError("no_cases")
        files = {file.digest: file.content for case in self.found for file in case.files}
        for case in self.found:
            case.files = [CaseFile(file.variable, file.name, file.digest) for file in case.files]
        return Template(
            title(name), description, list(prompts), list(checks), self.found,
            schema_of(self.found), parameters or {}, files,
        )  # fmt: skip


def title(name: str) -> str:
    """Return a file's name without folders and endings."""
    stem = posixpath.basename(name.replace("\\", "/"))
    for _ in range(2):
        bare, ending = posixpath.splitext(stem)
        stem = bare if bare and len(ending) <= 9 else stem
    return stem[:MAX_KEY]


def short_key(text: str) -> str:
    """Return a key that fits, with a digest where it was cut."""
    text = " ".join(text.split())
    if len(text) <= MAX_KEY:
        return text
    return f"{text[: MAX_KEY - 9]}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def schema_of(cases: Sequence[Case]) -> dict[str, object]:
    """Return a JSON Schema that the variables of all cases satisfy."""
    types: dict[str, set[str]] = {}
    counts: dict[str, int] = {}
    for case in cases:
        for name, value in case.variables.items():
            types.setdefault(name, set()).add(_type_of(value))
            counts[name] = counts.get(name, 0) + 1
    properties = {name: {"type": _type(kinds)} for name, kinds in types.items()}
    required = [name for name, count in counts.items() if count == len(cases)]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _type_of(value: object) -> str:
    if value is None:
        return "null"
    return next(name for kind, name in _TYPES.items() if isinstance(value, kind))


def _type(kinds: set[str]) -> object:
    if {"integer", "number"} <= kinds:
        kinds = kinds - {"integer"}
    return next(iter(kinds)) if len(kinds) == 1 else sorted(kinds)


def one_message(text: str, label: str = "prompt") -> Prompt:
    return Prompt(label, [Message("user", text)])


def input_prompt(cases: Sequence[Case]) -> Prompt:
    """Return a prompt of the variable `input`, which cases with a chat of their own lack."""
    has_chat = any(case.messages for case in cases)
    return one_message("{% if input is defined %}{{ input }}{% endif %}" if has_chat else "{{ input }}")


LETTERED = (
    "{{ question }}\n\n"
    "{% for choice in choices %}{{ 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[loop.index0] }}) {{ choice }}\n{% endfor %}\n"
    'End with a line of the form "Answer: X", where X is the letter of the right choice.'
)
MAX_CHOICES = 26
CHOICES = "choices"  # label of the prompt


def choice_prompt(cases: Sequence[Case] = ()) -> Prompt:
    if any(case.messages for case in cases):
        question = "{% if question is defined %}{{ question }}{% endif %}"
        return one_message(LETTERED.replace("{{ question }}", question), CHOICES)
    return one_message(LETTERED, CHOICES)


def choice_checks(cases: Sequence[Case], name: str = "choices") -> list[Check]:
    """Return a check of the letter; where cases have different numbers of choices, each gets its own."""
    counts = [len(choices) if isinstance(choices := case.variables.get(name), list) else 2 for case in cases]
    if len(set(counts)) == 1:
        return [_choice_check(counts[0])]
    for case, count in zip(cases, counts, strict=True):
        case.checks.append(_choice_check(count))
    return []


def _choice_check(count: int) -> Check:
    return Check("choice", "choice", settings={"choices": max(2, count)})
