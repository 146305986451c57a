"""Scalars of YAML 1.2's core schema, in which `yes`, `on` and `1:30` are text."""

import re

PREFIX = "tag:yaml.org,2002:"
_KINDS = [
    ("null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", list("tTfF")),
    ("int", r"^[-+]?[0-9]+$", list("-+0123456789")),
    ("float", r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$", list("-+0123456789.")),
    ("float", r"^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$", list("-+.")),
    ("merge", r"^<<$", ["<"]),
]
# Resolvers by first character, the form that PyYAML's loaders and dumpers take.
RESOLVERS: dict[str, list[tuple[str, re.Pattern[str]]]] = {}
for _kind, _pattern, _first in _KINDS:
    for _character in _first:
        RESOLVERS.setdefault(_character, []).append((PREFIX + _kind, re.compile(_pattern)))
