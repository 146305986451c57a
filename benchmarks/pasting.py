"""Cases pasted from a spreadsheet, tab-separated under the columns' names."""

import csv
import io
from dataclasses import dataclass, field

import msgspec
from django.utils.translation import gettext as _

from benchmarks.imports.limits import MAX_CASES, MAX_COLUMNS, MAX_KEY, MAX_TAG, MAX_TEXT
from common.errors import InvalidInput
from common.payload_types import JsonObject
from common.text.storable import has_unstorable

KEY_COLUMNS, EXPECTED_COLUMN, TAGS_COLUMN = ("key", "id"), "expected", "tags"
MAX_PROBLEMS = 20


@dataclass(frozen=True)
class PastedFile:
    """upload: a public id."""

    variable: str
    upload: str


@dataclass
class PastedCase:
    key: str = ""
    variables: JsonObject = field(default_factory=dict)
    expected: list[object] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    # Fields that a pasted table cannot have.
    messages: list[JsonObject] | None = None
    checks: list[JsonObject] | None = None
    cluster: str = ""
    metadata: JsonObject = field(default_factory=dict)
    weight: float = 1.0
    files: list[PastedFile] = field(default_factory=list)


def read_table(text: str) -> list[PastedCase]:
    """Return the cases of a pasted table. Raises InvalidInput with every wrong line."""
    csv.field_size_limit(MAX_TEXT + 1)
    reader = csv.reader(io.StringIO(text.replace("\r\n", "\n").replace("\r", "\n"), newline=""), delimiter="\t")
    problems: list[str] = []
    try:
        names = [name.strip() for name in next(reader, [])]
        problems += _problems_of_names(names)
        cases: list[PastedCase] = []
        keys: dict[str, int] = {}
        for row in reader if not problems else ():
            if not any(cell.strip() for cell in row):
                continue
            case = PastedCase()
            place = {"line": reader.line_num}
            if len(row) > len(names):
                problems.append(_("Line %(line)s has more cells than the first row.") % place)
            if any(has_unstorable(cell) for cell in row):
                problems.append(_("Line %(line)s has characters that cannot be stored.") % place)
            for name, cell in zip(names, row, strict=False):
                _put(case, name, cell)
            if case.key and case.key in keys:
                repeated = place | {"key": case.key, "first": keys[case.key]}
                problems.append(_("Line %(line)s: the key “%(key)s” is that of line %(first)s.") % repeated)
            if len(case.key) > MAX_KEY:
                problems.append(
                    _("Line %(line)s: a key has at most %(most)s characters.") % (place | {"most": MAX_KEY})
                )
            keys[case.key] = reader.line_num
            cases.append(case)
    except csv.Error:
        problems.append(_("Line %(line)s has a cell that is too long.") % {"line": reader.line_num})
    if not problems and not cases:
        problems.append(_("Paste at least two rows: the columns’ names, and a case."))
    if not problems and len(cases) > MAX_CASES:
        problems.append(_("A template has at most %(most)s cases.") % {"most": MAX_CASES})
    if problems:
        raise InvalidInput(fields={"table": problems[:MAX_PROBLEMS]})
    return cases


def _problems_of_names(names: list[str]) -> list[str]:
    if not any(names):
        return []  # an empty table, which has another problem
    if len(names) > MAX_COLUMNS or any(len(name) > MAX_KEY for name in names) or "" in names:
        return [_("The first row needs a name for each column.")]
    return [_("The column “%(name)s” occurs twice.") % {"name": name} for name in {*names} if names.count(name) > 1]


def _put(case: PastedCase, name: str, cell: str) -> None:
    if name.lower() in KEY_COLUMNS:
        case.key = cell.strip()
    elif name.lower() == EXPECTED_COLUMN:
        case.expected = expected_of(cell)
    elif name.lower() == TAGS_COLUMN:
        case.tags = tags_of(cell)
    else:
        case.variables[name] = cell


def expected_of(cell: str) -> list[object]:
    """Return expected values: a JSON list as it is, other text as the only one."""
    if cell.lstrip().startswith("["):
        try:
            return msgspec.json.decode(cell, type=list[object])
        except msgspec.MsgspecError:
            pass
    return [cell] if cell.strip() else []


def tags_of(cell: str) -> list[str]:
    return list(dict.fromkeys(tag.strip()[:MAX_TAG] for tag in cell.split(",") if tag.strip()))
