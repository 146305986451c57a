"""JSON: its form, its schema, its value."""

from functools import lru_cache

import jsonschema_rs
import msgspec

from benchmarks.scoring.json_texts import NotJson, read_json, read_values
from benchmarks.scoring.ports import ScoredAnswer, Scorer, Settings, Target, Verdict, decided, empty_target_error
from benchmarks.scoring.refusals import Refusal


class JsonSettings(Settings, frozen=True):
    """anywhere: also take JSON from a code fence or out of prose, where one value that fits is enough."""

    anywhere: bool = False


class IsJson(Scorer):
    name = "is_json"
    settings = JsonSettings

    def score(self, answer: ScoredAnswer, target: Target, settings: msgspec.Struct) -> Verdict:
        assert isinstance(settings, JsonSettings)
        try:
            read_json(answer.text, anywhere=settings.anywhere)
        except NotJson as error:
            return decided(False, str(error))
        return decided(True)


class SchemaSettings(Settings, frozen=True):
    schema: dict[str, object] | bool
    anywhere: bool = False

    def __post_init__(self) -> None:
        _validator(msgspec.json.encode(self.schema))


class JsonSchema(Scorer):
    """Validates in the child, as a schema of a kilobyte can ask for hours of work."""

    name = "json_schema"
    version = "3"
    settings = SchemaSettings
    needs_child = True

    def score(self, answer: ScoredAnswer, target: Target, settings: msgspec.Struct) -> Verdict:
        assert isinstance(settings, SchemaSettings)
        validator, reason = _validator(msgspec.json.encode(settings.schema)), ""
        try:
            for value in read_values(answer.text, anywhere=settings.anywhere):
                wrong = next(validator.iter_errors(value), None)
                if wrong is None:
                    return decided(True)
                reason = reason or f"/{'/'.join(map(str, wrong.instance_path))}: {wrong.message}"
        except NotJson as error:
            return decided(False, str(error))
        return decided(False, reason)


@lru_cache(maxsize=64)
def _validator(schema: bytes) -> jsonschema_rs.Validator:
    try:
        # Not offline, it would fetch http: and file: references by itself; its default expressions are not linear.
        return jsonschema_rs.validator_for(
            msgspec.json.decode(schema),
            offline=True,
            pattern_options=jsonschema_rs.RegexOptions(),
            validate_formats=True,
        )
    except jsonschema_rs.ValidationError as error:
        raise Refusal("schema_unusable", reason=error.message) from None


class JsonEquals(Scorer):
    """Compares values: the order of keys does not count, 1 equals 1.0, true does not equal 1."""

    name = "json_equals"
    version = "3"
    settings = JsonSettings

    def target_error(self, target: Target) -> Refusal | str:
        return empty_target_error(target)

    def score(self, answer: ScoredAnswer, target: Target, settings: msgspec.Struct) -> Verdict:
        assert isinstance(settings, JsonSettings)
        wanted = [*target, *map(_decoded, target)]
        try:
            values = read_values(answer.text, anywhere=settings.anywhere)
            return decided(any(_same(value, reference) for value in values for reference in wanted))
        except NotJson as error:
            return decided(False, str(error))


def _decoded(reference: object) -> object:
    """Return the value of a reference that is written as JSON text."""
    if not isinstance(reference, str):
        return reference
    try:
        return read_json(reference)
    except NotJson:
        return reference


def _same(left: object, right: object) -> bool:
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_same(value, right[key]) for key, value in left.items())
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_same, left, right))
    return isinstance(left, bool) == isinstance(right, bool) and left == right


SCORERS: tuple[Scorer, ...] = (IsJson(), JsonSchema(), JsonEquals())
