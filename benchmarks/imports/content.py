"""Neutral content of an imported file: every format becomes it, and the database is filled from it."""

from typing import Literal

import msgspec

from benchmarks.imports.codes import Code

Action = Literal["taken", "changed", "left_out", "refused"]
Role = Literal["system", "user", "assistant"]
Value = str | int | float | bool


class Message(msgspec.Struct):
    """Message of a prompt (`text` is a template) or of a case (`text` is literal)."""

    role: Role
    text: str


class Prompt(msgspec.Struct):
    """Templates in Jinja's syntax; `turns` are follow-ups after the entrant's own answers."""

    label: str
    messages: list[Message]
    turns: list[str] = []


class Check(msgspec.Struct):
    """A benchmarks.scoring.check.Check as the file has it: nothing of it is examined yet."""

    key: str
    scorer: str
    target: list[object] | None = None
    settings: dict[str, object] = {}
    extract: list[dict[str, object]] = []
    weight: float = 1
    negate: bool = False
    threshold: float | None = None
    is_gate: bool = False
    metric: str = ""


class CaseFile(msgspec.Struct):
    """File of a case. digest: SHA-256, hexadecimal; content: empty once the template has it."""

    variable: str
    name: str
    digest: str
    content: bytes = b""


class Case(msgspec.Struct):
    key: str
    variables: dict[str, object] = {}
    expected: list[object] = []
    messages: list[Message] | None = None
    checks: list[Check] = []
    cluster: str = ""
    tags: list[str] = []
    metadata: dict[str, object] = {}
    weight: float = 1
    threshold: float | None = None
    files: list[CaseFile] = []


class Template(msgspec.Struct):
    """Template and its cases; `variables` is the JSON Schema of a case's variables, `files` are by digest."""

    name: str
    description: str
    prompts: list[Prompt]
    checks: list[Check]
    cases: list[Case]
    variables: dict[str, object]
    parameters: dict[str, object] = {}
    files: dict[str, bytes] = {}
    errors_count: Literal["missing", "wrong"] = "missing"
    threshold: float | None = None
    relevant_difference: float | None = None


class Reply(msgspec.Struct):
    """Answer that exists already, of a model that is not asked."""

    entrant: str
    case_key: str
    text: str
    turn: int = 0
    repeat: int = 0


class ProposedModel(msgspec.Struct):
    """Model that the file names; `name` is the upstream's."""

    name: str
    label: str
    parameters: dict[str, object] = {}


class Entry(msgspec.Struct):
    """Line of the log. Lines and columns count from 1; 0 is unknown."""

    action: Action
    code: Code
    values: dict[str, Value] = {}
    line: int = 0
    column: int = 0
    file: str = ""


class Column(msgspec.Struct):
    """Column of a table with its role, and the beginning of its first cell."""

    name: str
    role: str = ""
    sample: str = ""


class ReadLine(msgspec.Struct):
    """Encoding, and the first line that it changes."""

    encoding: str
    line: str


class Imported(msgspec.Struct):
    """Content of a file and the log on it; refused files have no content.

    counts: entries by action, also those beyond the ones listed.
    """

    format: str
    entries: list[Entry]
    counts: dict[str, int]
    template: Template | None = None
    replies: list[Reply] = []
    models: list[ProposedModel] = []
    repeats: int | None = None
    concurrency: int | None = None
    # A table's columns, and a workbook's sheets, of which the first is read; also of a refused one.
    columns: list[Column] = []
    sheets: list[str] = []
    # The present one first; empty for texts in Unicode.
    encodings: list[ReadLine] = []

    @classmethod
    def refused(cls, code: Code, format: str = "", **values: Value) -> "Imported":
        return cls(format, [Entry("refused", code, values)], {"refused": 1})

    @property
    def is_refused(self) -> bool:
        return self.counts.get("refused", 0) > 0


class Request(msgspec.Struct):
    """File's name and the person's choices.

    format: name of one; "" finds it out.
    mapping: roles of columns: variable, variable:<name>, key, expected, prompt, cluster, tag, metadata,
    metadata:<name>, weight, ignore, reply:<model>.
    sheet: of a spreadsheet; "" is the first one.
    evaluation: OpenAI evals' class, if no registry says it.
    encoding: of texts that are no Unicode, a name in common.text.encodings.CODECS; "" finds it out.
    """

    name: str
    format: str = ""
    mapping: dict[str, str] = {}
    sheet: str = ""
    evaluation: str = ""
    encoding: str = ""
