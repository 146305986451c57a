"""Tables: promptfoo's columns (`__expected`, `__metadata:…`), or a role for each column."""

import json
import re
from collections.abc import Callable, Collection

from benchmarks.imports.building import Cases, one_message
from benchmarks.imports.column_names import find_prompt, guess_role
from benchmarks.imports.content import Case, Check, Column, Imported, Prompt, Reply
from benchmarks.imports.formats.assertions import read_cell
from benchmarks.imports.formats.fields import for_each, text
from benchmarks.imports.limits import MAX_SAMPLE
from benchmarks.imports.readers.rows import Row
from benchmarks.imports.readers.values import as_text
from benchmarks.imports.reading_log import ReadError
from benchmarks.imports.source import Source

ROLES = ("variable", "key", "expected", "prompt", "cluster", "tag", "metadata", "weight", "ignore")
_NAMED = ("variable", "metadata")
_REPLY = "reply:"
_EXPECTED = re.compile(r"__expected\d*\Z")
_DECIMAL_COMMA = re.compile(r"-?\d+,\d+")
_ESCAPED_COMMA = re.compile(r"(?<!\\),")
_SPECIAL = {
    "__description": "title", "__prefix": "prefix", "__suffix": "suffix", "__metric": "metric",
    "__threshold": "threshold", "__providerOutput": f"{_REPLY}imported",
}  # fmt: skip


def role_of(column: str, mapping: dict[str, str]) -> str:
    """Return a column's role; promptfoo's columns have theirs. Raises ReadError."""
    if column in mapping:
        role = mapping[column]
        kind, _, name = role.partition(":")
        if role not in ROLES and not (name and kind in (*_NAMED, "reply")):
            raise ReadError("role_unknown", column=column, role=role)
        return role
    if _EXPECTED.match(column):
        return "assertion"
    if column.startswith("__metadata:"):
        return "metadata"
    if column in _SPECIAL:
        return _SPECIAL[column]
    return "unknown" if column.startswith("__") else "variable"


class TableCases:
    """Cases of rows; a version's check takes the place of the rows' own where all rows have the same one."""

    def __init__(self, source: Source, *, guess: bool) -> None:
        self._guess = guess and not source.request.mapping
        self.cases = Cases(source.log)
        self._source, self._log = source, source.log
        self.roles: dict[str, str] = {}
        self.columns: list[Column] = []
        self.names: dict[str, str] = {}  # of variables, by column
        self._uses_affixes = False
        self._handlers: dict[str, Callable[[Case, Row, str], None]] = {
            "variable": self._variable, "prompt": self._prompt, "key": self._key, "title": self._key,
            "expected": self._expected, "assertion": self._assertion, "cluster": self._cluster, "tag": self._tag,
            "metadata": self._metadata, "weight": self._weight, "threshold": self._threshold,
            "prefix": self._affix, "suffix": self._affix,
        }  # fmt: skip

    @property
    def uses_affixes(self) -> bool:
        return self._uses_affixes

    def add(self, row: Row) -> None:
        if not row.cells.keys() <= self.roles.keys():
            self._set_roles(row)
        case = Case("")
        replies: list[Reply] = []
        for column in row.cells:
            role = self.roles[column]
            kind = role.partition(":")[0]
            if role.startswith(_REPLY):
                if answer := text(row, column):
                    replies.append(Reply(role.removeprefix(_REPLY), "", answer))
            elif kind in self._handlers:
                self._handlers[kind](case, row, column)
        metric = text(row, "__metric")
        for check in case.checks:
            check.metric = metric
        if "title" in self.roles.values() or not case.key:
            self.cases.add_titled(case, row.place("__description"))
        else:
            self.cases.add(case, row.place())
        for reply in replies:
            reply.case_key = case.key
            self.cases.reply(reply, row.place())

    def _set_roles(self, row: Row) -> None:
        """Decide roles of columns, and enter them in the log."""
        guess = self._guess and not any(name.startswith("__") for name in row.cells)
        texts = [name for name, cell in row.cells.items() if isinstance(cell, str)]
        prompt = find_prompt(texts) if guess and "prompt" not in self.roles.values() else ""
        for column in [name for name in row.cells if name not in self.roles]:
            place = row.place(column)._replace(line=row.heading_line)
            role = guess_role(column) if guess else role_of(column, self._source.request.mapping)
            role = self.roles[column] = "prompt" if column == prompt else role
            self.columns.append(Column(column, role, as_text(row.cells[column])[:MAX_SAMPLE]))
            kind, _, given = role.partition(":")
            if role in ("unknown", "ignore"):
                self._log.left_out("column_not_used", place, column=column)
            else:
                self._log.taken("column", place, column=column, role=role)
            if re.match(r"_(expected|prefix|suffix|description|providerOutput|metric|threshold|metadata)", column):
                self._log.changed("single_underscore", place, column=column)
            if kind in ("variable", "prompt"):
                name = self.names[column] = _identifier(given or column, self.names.values())
                if name != (given or column):
                    self._log.changed("column_renamed", place, column=column, name=name)

    def _variable(self, case: Case, row: Row, column: str) -> None:
        case.variables[self.names[column]] = row.cells[column]

    def _prompt(self, case: Case, row: Row, column: str) -> None:
        if not text(row, column):
            raise ReadError("field_missing", row.place(column), field=column)
        case.variables[self.names[column]] = text(row, column)

    def _key(self, case: Case, row: Row, column: str) -> None:
        case.key = text(row, column)

    def _expected(self, case: Case, row: Row, column: str) -> None:
        value = row.cells[column]
        if value is not None and value != "":
            case.expected += value if isinstance(value, list) else [as_text(value)]

    def _assertion(self, case: Case, row: Row, column: str) -> None:
        cell = text(row, column)
        check = read_cell(cell, row.place(column), self._log) if cell.strip() else None
        if check is not None:
            check.key = f"{check.scorer}-{len(case.checks) + 1}"
            case.checks.append(check)

    def _cluster(self, case: Case, row: Row, column: str) -> None:
        case.cluster = text(row, column)

    def _tag(self, case: Case, row: Row, column: str) -> None:
        case.tags += [tag.strip() for tag in text(row, column).split(",")]

    def _metadata(self, case: Case, row: Row, column: str) -> None:
        given = self.roles[column].partition(":")[2]
        name, value = given or column.removeprefix("__metadata:"), row.cells[column]
        if name.endswith("[]") and name != column:
            value = [part.strip().replace("\\,", ",") for part in _ESCAPED_COMMA.split(as_text(value))]
            name = name.removesuffix("[]")
        if value not in (None, "", [""]):
            case.metadata[name] = value

    def _weight(self, case: Case, row: Row, column: str) -> None:
        value = _number(row, column)
        if value is not None:
            if value <= 0:
                raise ReadError("weight_not_positive", row.place(column))
            case.weight = value

    def _threshold(self, case: Case, row: Row, column: str) -> None:
        case.threshold = _number(row, column)

    def _affix(self, case: Case, row: Row, column: str) -> None:
        if value := text(row, column):
            self._uses_affixes = True
            case.variables[column.replace("__", "prompt_")] = value

    def checks(self) -> list[Check]:
        """Return the version's checks, and take them from the cases that share them."""
        if any(case.expected for case in self.cases.found):
            self._log.changed("comparison_assumed", scorer="iequals")
            return [Check("equals", "iequals")]
        return shared_check(self.cases.found)


def shared_check(cases: list[Case]) -> list[Check]:
    """Move the targets of the only check to `expected` where every case has one check of one kind."""
    kinds = {
        (check.scorer, check.threshold, check.negate, check.metric, json.dumps(check.settings, sort_keys=True))
        for case in cases
        for check in case.checks
    }
    is_plain = all(
        len(case.checks) == 1
        and case.checks[0].target
        and not any("{{" in as_text(text) or "{%" in as_text(text) for text in case.checks[0].target)
        for case in cases
    )
    if len(kinds) != 1 or not is_plain:
        return []
    scorer, threshold, negate, metric, _ = kinds.pop()
    settings = cases[0].checks[0].settings
    for case in cases:
        case.expected, case.checks = case.checks[0].target or [], []
    return [Check(scorer, scorer, settings=settings, threshold=threshold, negate=negate, metric=metric)]


def _number(row: Row, column: str) -> float | None:
    cell = text(row, column).strip()
    if not cell:
        return None
    if _DECIMAL_COMMA.fullmatch(cell):
        cell = cell.replace(",", ".")
    try:
        return float(cell)
    except ValueError as error:
        raise ReadError("not_a_number", row.place(column), text=cell) from error


def with_affixes(prompts: list[Prompt], cases: list[Case]) -> None:
    """Put the variables prompt_prefix and prompt_suffix around the last message, and give them to every case."""
    for case in cases:
        case.variables.setdefault("prompt_prefix", "")
        case.variables.setdefault("prompt_suffix", "")
    for prompt in prompts:
        last = prompt.messages[-1]
        last.text = f"{{{{ prompt_prefix }}}}{last.text}{{{{ prompt_suffix }}}}"


def read(source: Source) -> Imported:
    """Return cases; the prompt is the column with that role, else the only variable, else all of them by name."""
    for column, role in source.request.mapping.items():
        role_of(column, {column: role})
    table = TableCases(source, guess=True)
    source.log.columns = table.columns
    for_each(source.rows(), table.add, source.log)
    unknown = source.request.mapping.keys() - table.roles.keys()
    for column in sorted(unknown):
        source.log.refuse("column_missing", column=column)
    cases, checks = table.cases.found, table.checks()
    prompts = [one_message(_prompt(table, source))]
    if table.uses_affixes:
        with_affixes(prompts, cases)
    template = table.cases.template(source.request.name, prompts, checks)
    return Imported("table", [], {}, template, table.cases.replies)


def _prompt(table: TableCases, source: Source) -> str:
    given = [name for column, name in table.names.items() if table.roles[column] == "prompt"]
    usual = find_prompt(table.names)
    names = given or ([table.names[usual]] if usual else list(table.names.values()))
    if len(names) == 1:
        return f"{{{{ {names[0]} }}}}"
    if names:
        source.log.changed("prompt_made_of_columns", columns=", ".join(names))
    return "\n\n".join(f"{_literal(name)}: {{{{ {name} }}}}" for name in names)


def _identifier(column: str, taken: Collection[str]) -> str:
    """Return a name that templates can read."""
    name = column if column.isidentifier() else re.sub(r"\W+", "_", column).strip("_")
    if not name.isidentifier():
        name = f"column_{name}".rstrip("_")
    while name in taken:
        name += "_"
    return name


def _literal(name: str) -> str:
    return name.replace("{", "(").replace("}", ")")
