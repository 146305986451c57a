"""Templates in the targets of checks, which are JSON objects."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from benchmarks.scoring.scorers import groups
from common.payload_types import JsonObject

_MARKS = ("{{", "{%", "{#")


def is_template(value: object) -> bool:
    return isinstance(value, str) and any(mark in value for mark in _MARKS)


def template_texts(targets: Iterable[Iterable[object]]) -> list[str]:
    return [str(value) for target in targets for value in target if is_template(value)]


def fill_templates(targets: Iterable[Iterable[object]], texts: Iterable[str]) -> list[list[object]]:
    """Replace templates by `texts`, which are in the order of template_texts."""
    rendered = iter(texts)
    return [[next(rendered) if is_template(value) else value for value in target] for target in targets]


def templates_of(checks: Sequence[JsonObject]) -> list[list[object]]:
    """Return the targets with templates, a group's before those of its checks."""
    targets: list[list[object]] = []

    def keep(target: list[object]) -> list[object]:
        targets.append(target)
        return target

    for check in checks:
        _replace(check, keep)
    return targets


def without_templates(check: JsonObject) -> JsonObject:
    return _replace(check, lambda _: None)


def with_targets(checks: Sequence[JsonObject], rendered: Iterable[list[object]]) -> list[JsonObject]:
    """Replace targets in the order of `templates_of`."""
    targets: Iterator[list[object]] = iter(rendered)
    return [_replace(check, lambda _: next(targets)) for check in checks]


def _replace(check: JsonObject, change: Callable[[list[object]], list[object] | None]) -> JsonObject:
    check = dict(check)
    target, settings = check.get("target"), check.get("settings")
    if isinstance(target, list) and any(map(is_template, target)):
        check["target"] = change(target)
    if isinstance(settings, dict):
        if check.get("scorer") in groups.NAMES and isinstance(nested := settings.get("checks"), list):
            checks = [_replace(part, change) if isinstance(part, dict) else part for part in nested]
            check["settings"] = settings | {"checks": checks}
        if check.get("scorer") == groups.JsonField.name and isinstance(inner := settings.get("check"), dict):
            check["settings"] = settings | {"check": _replace(inner, change)}
    return check
