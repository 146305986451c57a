"""Assertions of promptfoo as checks."""

import json
import re
from collections.abc import Callable

import msgspec
import re2

from benchmarks.imports.codes import Code
from benchmarks.imports.content import Check
from benchmarks.imports.formats.fields import is_number
from benchmarks.imports.readers.documents import Map, Seq, place_in, read_document
from benchmarks.imports.readers.values import as_text
from benchmarks.imports.reading_log import Place, ReadError, ReadingLog

# promptfoo's type: scorer that takes its texts.
_TEXTS = {
    "equals": "equals", "contains": "contains", "icontains": "icontains", "starts-with": "starts_with",
    "contains-any": "contains_any", "contains-all": "contains_all", "icontains-any": "icontains_any",
    "icontains-all": "icontains_all", "regex": "regex", "levenshtein": "levenshtein", "bleu": "bleu",
    "rouge-n": "rouge_l", "finish-reason": "finish_reason",
}  # fmt: skip
_LISTS = {"contains-any", "contains-all", "icontains-any", "icontains-all"}
# Settings with which a scorer counts as promptfoo does.
_SETTINGS: dict[str, dict[str, object]] = {
    "contains-all": {"partial": False}, "icontains-all": {"partial": False},
    "bleu": {"tokenize": "none", "lowercase": True, "smoothing": "none"},
}  # fmt: skip
_DRAFT_7 = "http://json-schema.org/draft-07/schema#"
_LIMITS = {"latency": ("latency", "max_ms"), "cost": ("cost", "max_dollars")}
_JSON = {"is-json": False, "contains-json": True}
_JUDGED = {
    "llm-rubric", "model-graded-closedqa", "model-graded-factuality", "factuality", "select-best", "max-score",
    "g-eval", "answer-relevance", "conversation-relevance", "search-rubric", "agent-rubric", "pi",
}  # fmt: skip
_DEFAULT_THRESHOLDS = {"bleu": 0.5, "rouge-n": 0.75}
# promptfoo's CSV reader has other defaults in cells.
_CELL_THRESHOLDS = dict.fromkeys(("levenshtein", "rouge-n", "latency", "cost"), 0.75)
_CODE = ("javascript:", "fn:", "eval:", "python:")
_ELEMENTS = re.compile(r"[^\W\d][\w-]*(\.[^\W\d][\w-]*)*")
_CELL = re.compile(r"(not-)?([a-z][a-z0-9:-]*?)(?:\((\d+(?:\.\d+)?)\))?(?::(.*))?\Z", re.DOTALL)
# Also the types that are known and left out, so that their cells are no texts to compare with.
_OTHER = {
    "javascript", "python", "ruby", "webhook", "similar", "classifier", "moderation", "perplexity", "perplexity-score",
    "context-faithfulness", "context-recall", "context-relevance", "contains-sql", "is-sql", "contains-xml",
    "contains-html", "is-html", "gleu", "meteor", "word-count", "guardrails", "is-valid-function-call",
    "is-valid-openai-function-call", "is-valid-openai-tools-call", "tool-call-f1", "skill-used",
    "trace-error-spans", "trace-span-count", "trace-span-duration", "assert-set", "trajectory", "human",
}  # fmt: skip
_TYPES = {*_TEXTS, "is-xml", "is-refusal", *_LIMITS, *_JSON, *_JUDGED, *_OTHER}

# Returns the text or the parsed document behind file://….
LoadFile = Callable[[str, Place], object]


class LeftOut(Exception):
    """Raised for an assertion that has no check; `code` is the log's."""

    def __init__(self, code: Code, place: Place, kind: str) -> None:
        super().__init__(code)
        self.code, self.place, self.kind = code, place, kind


def read_assertions(value: object, load: LoadFile, log: ReadingLog, prefix: str = "") -> list[Check]:
    """Return the checks of an `assert` list; others are listed as left out with their line."""
    checks: list[Check] = []
    for number in range(len(value) if isinstance(value, Seq) else 0):
        assertion = value[number] if isinstance(value, Seq) else None
        place = place_in(value, number)
        if not isinstance(assertion, Map) or not isinstance(assertion.get("type"), str):
            log.refuse("assertion_not_understood", place)
            continue
        try:
            check = _check(assertion, load, log)
        except LeftOut as left_out:
            log.left_out(left_out.code, left_out.place, type=left_out.kind)
            continue
        check.key = f"{prefix}{check.scorer}-{number + 1}"
        log.taken("check", place_in(assertion, "type"), scorer=check.scorer, type=as_text(assertion["type"]))
        checks.append(check)
    return checks


def _check(assertion: Map, load: LoadFile, log: ReadingLog) -> Check:
    full, place = as_text(assertion["type"]), place_in(assertion, "type")
    kind = full.removeprefix("not-")
    if "transform" in assertion or "contextTransform" in assertion:
        raise LeftOut("transform_not_supported", place, full)
    value = assertion.get("value")
    if isinstance(value, str) and value.startswith("file://"):
        value = _loaded(value, load, place_in(assertion, "value"), full)
    if isinstance(value, str) and (value.startswith(_CODE) or re.search(r"\{\{\s*env\b", value)):
        raise LeftOut("code_not_run", place, full)
    threshold = assertion.get("threshold")
    given = float(threshold) if isinstance(threshold, int | float) and is_number(threshold) else None
    if kind == "assert-set":
        nested = read_assertions(assertion.get("assert"), load, log)
        if not nested:
            raise LeftOut("no_check_left", place, full)
        check = Check("", "all_of", settings={"checks": msgspec.to_builtins(nested)}, threshold=given)
    else:
        check = make_check(kind, value, given, place_in(assertion, "value"), place)
    if kind == "rouge-n":
        log.changed("rouge_n_as_rouge_l", place)
    check.negate = full.startswith("not-")
    weight = assertion.get("weight")
    check.weight = float(weight) if isinstance(weight, int | float) and is_number(weight) and weight >= 0 else 1.0
    check.metric = as_text(assertion.get("metric"))
    return check


def _loaded(reference: str, load: LoadFile, place: Place, kind: str) -> object:
    try:
        return load(reference, place)
    except ReadError as error:
        raise LeftOut(error.code, place, kind) from error


def make_check(kind: str, value: object, threshold: float | None, place: Place, type_place: Place) -> Check:
    """Return the check of a type without `not-`. Raises LeftOut."""
    if kind in _JUDGED:
        raise LeftOut("judge_not_available", type_place, kind)
    if kind == "equals" and isinstance(value, dict | list):
        return Check("", "json_equals", [json.dumps(value, ensure_ascii=False)])
    if kind in _TEXTS:
        return _text_check(kind, value, threshold, place)
    if kind == "is-refusal":
        return Check("", "refusal")
    if kind == "is-xml":
        return _xml_check(value, type_place)
    if kind in _LIMITS and threshold is not None:
        scorer, setting = _LIMITS[kind]
        return Check("", scorer, settings={setting: threshold})
    if kind in _JSON:
        return _json_check(kind, value, place)
    if kind == "word-count":
        return _word_count(value, place)
    raise LeftOut("check_not_supported", type_place, kind)


def _text_check(kind: str, value: object, threshold: float | None, place: Place) -> Check:
    if kind in _LISTS and isinstance(value, str):
        value = split_values(value)
    if kind == "finish-reason" and value is None:
        raise LeftOut("value_missing", place, kind)
    parts = value if isinstance(value, list) else [value]
    if not parts or any(part is None or isinstance(part, dict | list) for part in parts):
        raise LeftOut("value_missing", place, kind)
    targets = [as_text(part) for part in parts]
    if kind == "regex":
        _check_pattern(targets[0], place)
    if kind == "finish-reason":
        return Check("", "finish_reason", settings={"reasons": targets})
    if kind == "levenshtein":
        return Check(
            "", "levenshtein", [*targets], settings={"max_distance": int(5 if threshold is None else threshold)}
        )
    threshold = _DEFAULT_THRESHOLDS.get(kind) if threshold is None else threshold
    return Check("", _TEXTS[kind], [*targets], settings=dict(_SETTINGS.get(kind, {})), threshold=threshold)


def _check_pattern(pattern: str, place: Place) -> None:
    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(pattern, options)
    except re2.error as error:
        raise LeftOut("pattern_not_supported", place, "regex") from error


def _json_check(kind: str, value: object, place: Place) -> Check:
    settings: dict[str, object] = {"anywhere": True} if _JSON[kind] else {}
    if isinstance(value, str) and value.strip():
        try:
            value = read_document(value.encode(), is_yaml=True)
        except ReadError as error:
            raise LeftOut("schema_not_understood", place, kind) from error
    if value is None or value == "":
        return Check("", "is_json", settings=settings)
    if not isinstance(value, dict):
        raise LeftOut("schema_not_understood", place, kind)
    return Check("", "json_schema", settings=settings | {"schema": {"$schema": _DRAFT_7} | value})


def _xml_check(value: object, type_place: Place) -> Check:
    """Return the check of an XML document with the elements that a text, a list or an object names."""
    if isinstance(value, str):
        value = [part.strip() for part in value.split(",")] if value.strip() else None
    elif isinstance(value, dict) and value:
        value = value.get("requiredElements", value)
    if not value:
        return Check("", "is_xml")
    if not isinstance(value, list) or not all(_ELEMENTS.fullmatch(as_text(path)) for path in value):
        raise LeftOut("check_not_supported", type_place, "is-xml")
    return Check("", "is_xml", settings={"elements": [as_text(path).replace(".", "/") for path in value]})


def _word_count(value: object, place: Place) -> Check:
    if isinstance(value, str) and value.strip().isdecimal():
        value = int(value)
    if is_number(value):
        return Check("", "words", settings={"min": value, "max": value, "by_spaces": True})
    if isinstance(value, dict) and value and all(name in ("min", "max") and is_number(n) for name, n in value.items()):
        return Check("", "words", settings=dict(value) | {"by_spaces": True})
    raise LeftOut("value_missing", place, "word-count")


def read_cell(cell: str, place: Place, log: ReadingLog) -> Check | None:
    """Return the check of a cell `type(threshold): value`; a cell without a type is compared whole."""
    text = cell.strip()
    kind, negate, threshold, value = "equals", False, None, text
    if text.startswith(_CODE) or text.startswith("file://"):
        log.left_out("code_not_run", place, type=text.partition(":")[0])
        return None
    if text.startswith("grade:"):
        log.left_out("judge_not_available", place, type="llm-rubric")
        return None
    match = _CELL.match(text)
    if match and match[2] in _TYPES:
        kind, negate = match[2], bool(match[1])
        threshold = float(match[3]) if match[3] else _CELL_THRESHOLDS.get(kind)
        value = (match[4] or "").strip()
    try:
        check = make_check(kind, value, threshold, place, place)
    except LeftOut as left_out:
        log.left_out(left_out.code, place, type=left_out.kind)
        return None
    check.negate = negate
    return check


def split_values(text: str) -> list[str]:
    """Split at commas; a part in double quotes may have commas of its own, and doubled or escaped quotes."""
    parts = re.findall(r'\s*(?:"((?:[^"\\]|\\.|"")*)"|([^,]*))\s*(?:,|\Z)', text)
    values = [re.sub(r'\\(["\\])|"(")', r"\1\2", quoted) if quoted else bare.strip() for quoted, bare in parts]
    return [part for part in values if part]
