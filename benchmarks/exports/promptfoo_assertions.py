"""Checks as assertions of promptfoo: the inverse of benchmarks.imports.formats.assertions."""

from collections.abc import Callable, Sequence

from benchmarks.checks.targets import is_template
from benchmarks.scoring.ports import Target, texts_of
from benchmarks.scoring.scorers import groups
from common.payload_types import JsonObject

_TEXTS = {
    "equals": "equals", "contains": "contains", "icontains": "icontains", "starts_with": "starts-with",
    "regex": "regex",
}  # fmt: skip
_LISTS = {
    "contains_any": "contains-any", "contains_all": "contains-all", "icontains_any": "icontains-any",
    "icontains_all": "icontains-all",
}  # fmt: skip
_ANY_OF = {"contains": "contains-any", "icontains": "icontains-any"}
# Settings with which the import has the scorer count as promptfoo does.
_AS_PROMPTFOO = ({"partial": False}, {"tokenize": "none", "lowercase": True, "smoothing": "none"})
_LIMITS = {"latency": ("latency", "max_ms"), "cost": ("cost", "max_dollars")}
_REASONING = {"step": "strip_reasoning"}
WITHOUT_TARGET = {*_LIMITS, "is_xml", "refusal", "is_json", "json_schema", "words", "finish_reason"}


class NotExpressible(ValueError):
    """Raised for a check without an assertion."""


def assertion_of(check: JsonObject, expected: Target | None = None) -> JsonObject:
    """Return an assertion. check: as raw_check returns it. Raises NotExpressible.

    expected: the case's values, literal; a check's own target has templates.
    """
    if any(step != _REASONING for step in check.get("extract") or []):
        raise NotExpressible
    literal = check.get("target") is None
    values = [escaped(text) for text in texts_of(expected or [])] if literal else texts_of(check["target"])
    made = _assertion(check["scorer"], check.get("settings") or {}, values, check.get("threshold"))
    if check.get("negate"):
        if made["type"] == "assert-set":
            raise NotExpressible
        made["type"] = f"not-{made['type']}"
    if check.get("weight", 1) != 1:
        made["weight"] = check["weight"]
    if check.get("metric"):
        made["metric"] = check["metric"]
    return made


def escaped(text: str) -> str:
    """Return a text that promptfoo neither renders nor takes for a file's name."""
    return f"{{% raw %}}{text}{{% endraw %}}" if is_template(text) or text.startswith("file://") else text


def _assertion(scorer: str, settings: JsonObject, values: list[str], threshold: float | None) -> JsonObject:
    if settings in _AS_PROMPTFOO:
        settings = {}
    if scorer == "bleu" and values and threshold is not None and not settings:
        return {"type": "bleu", "value": values[0] if len(values) == 1 else values, "threshold": threshold}
    if scorer == "rouge_l" and len(values) == 1 and threshold is not None and not settings:
        return {"type": "rouge-n", "value": values[0], "threshold": threshold}
    if scorer in groups.NAMES:
        return _group(scorer, settings, threshold)
    if threshold is not None:
        raise NotExpressible
    if scorer == "levenshtein" and values and settings.keys() == {"max_distance"}:
        distance = settings["max_distance"]
        return _any(values, lambda value: {"type": "levenshtein", "value": value, "threshold": distance})
    if scorer in (*_TEXTS, *_LISTS):
        if settings or not values:
            raise NotExpressible
        return _text(scorer, values)
    return _without_target(scorer, settings)


def _text(scorer: str, values: list[str]) -> JsonObject:
    if scorer in _LISTS:
        return {"type": _LISTS[scorer], "value": values}
    if len(values) > 1 and scorer in _ANY_OF:
        return {"type": _ANY_OF[scorer], "value": values}
    return _any(values, lambda value: {"type": _TEXTS[scorer], "value": value})


def _without_target(scorer: str, settings: JsonObject) -> JsonObject:
    if scorer == "refusal" and not settings:
        return {"type": "is-refusal"}
    if scorer == "is_xml":
        paths = [path.strip("/").replace("/", ".") for path in settings.get("elements") or []]
        return {"type": "is-xml", **({"value": paths} if paths else {})}
    if scorer in _LIMITS:
        kind, name = _LIMITS[scorer]
        return {"type": kind, "threshold": settings[name]}
    if scorer == "finish_reason":
        return _any(settings.get("reasons") or ["stop"], lambda reason: {"type": "finish-reason", "value": reason})
    if scorer == "words" and settings.keys() <= {"min", "max", "by_spaces"}:
        return {"type": "word-count", "value": {name: settings[name] for name in ("min", "max") if name in settings}}
    if scorer in ("is_json", "json_schema") and settings.keys() <= {"anywhere", "schema"}:
        kind = "contains-json" if settings.get("anywhere") else "is-json"
        return {"type": kind, **({"value": settings["schema"]} if "schema" in settings else {})}
    raise NotExpressible


def _any(values: Sequence[str], assertion: Callable[[str], JsonObject]) -> JsonObject:
    """Return a set of which one assertion must pass, unless there is only one."""
    if len(values) == 1:
        return assertion(values[0])
    return {"type": "assert-set", "threshold": 1 / len(values), "assert": [assertion(value) for value in values]}


def _group(scorer: str, settings: JsonObject, threshold: float | None) -> JsonObject:
    nested = settings.get("checks") or []
    if not nested or any(check.get("target") is None and check["scorer"] not in WITHOUT_TARGET for check in nested):
        raise NotExpressible
    group: JsonObject = {"type": "assert-set", "assert": [assertion_of(check) for check in nested]}
    if scorer != "all_of":
        if threshold is not None:
            raise NotExpressible
        threshold = (settings["count"] if scorer == "at_least" else 1) / len(nested)
    return group if threshold is None else group | {"threshold": threshold}
