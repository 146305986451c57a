from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml


@dataclass(frozen=True, order=True)
class Problem:
    """An error with its line, from 1."""

    line: int
    sentence: str


class ConfigRefused(Exception):
    """Raised with all problems in the order of lines."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("\n".join(problem.sentence for problem in problems))
        self.problems = sorted(set(problems))


@dataclass
class RawEntry:
    """YAML values of an item, and line numbers by key ("price", "price.input")."""

    line: int
    values: dict[str, Any] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)


def read_text(path: Path) -> str:
    """Raises ConfigRefused if the file is missing, unreadable or not UTF-8."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ConfigRefused([Problem(1, f"The file cannot be read: {error.strerror}.")]) from error
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigRefused([Problem(line, "This line is not UTF-8 text.")]) from error


def read_entries(text: str) -> tuple[list[RawEntry], list[Problem]]:
    """Return entries and problems of their shape. Raises ConfigRefused if the text is no YAML list."""
    loader = _open(text)
    try:
        root = loader.get_single_node()
        problems: list[Problem] = []
        entries = [entry for node in _list_of(root, problems) if (entry := _read_entry(loader, node, problems))]
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise ConfigRefused([_not_yaml(mark.line + 1 if mark else 1, error.problem)]) from error
    return entries, problems


def _list_of(root: yaml.Node | None, problems: list[Problem]) -> list[yaml.Node]:
    """Return the items of the list, which may stand below the single key “models”. Raises ConfigRefused."""
    if isinstance(root, yaml.MappingNode) and any(key.value == "models" for key, _value in root.value):
        for key, value in _pairs(root, problems):
            if key.value == "models":
                root = value
            else:
                problems.append(Problem(_line(key), f"“{key.value}” is unknown here: only “models” is read."))
    if root is None or root.tag == "tag:yaml.org,2002:null":
        return []
    if not isinstance(root, yaml.SequenceNode):
        raise ConfigRefused([Problem(_line(root), "The file must be a list of models, each beginning with “- id: …”.")])
    return list(root.value)


def _open(text: str) -> yaml.SafeLoader:
    try:
        return yaml.SafeLoader(text)
    except yaml.reader.ReaderError as error:
        raise ConfigRefused([_not_yaml(text.count("\n", 0, error.position) + 1, error.reason)]) from error


def _not_yaml(line: int, reason: str | None) -> Problem:
    return Problem(line, f"This is not YAML: {reason or 'it cannot be read'}.")


def _read_entry(loader: yaml.SafeLoader, node: yaml.Node, problems: list[Problem]) -> RawEntry | None:
    if not isinstance(node, yaml.MappingNode):
        problems.append(Problem(_line(node), "A model is written as “- id: …” with its other keys below."))
        return None
    entry = RawEntry(_line(node))
    for key, value in _pairs(node, problems):
        entry.lines[key.value] = _line(key)
        try:
            entry.values[key.value] = loader.construct_object(value, deep=True)
        except ValueError:  # for example 2026-99-99, an invalid date
            problems.append(Problem(_line(key), f"{key.value}: this cannot be read. Put it in quotes."))
        if isinstance(value, yaml.MappingNode):
            inner = _pairs(value, problems)
            entry.lines |= {f"{key.value}.{inner_key.value}": _line(inner_key) for inner_key, _ in inner}
    return entry


def _pairs(node: yaml.MappingNode, problems: list[Problem]) -> list[tuple[yaml.ScalarNode, yaml.Node]]:
    pairs: dict[str, tuple[yaml.ScalarNode, yaml.Node]] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            problems.append(Problem(_line(key), "A key must be a word."))
        elif key.value in pairs:
            first = _line(pairs[key.value][0])
            problems.append(Problem(_line(key), f"“{key.value}” is said twice (first on line {first})."))
        else:
            pairs[key.value] = (key, value)
    return list(pairs.values())


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1
