"""Serializers of requests; the actions check what needs the database."""

import json
from decimal import Decimal
from math import isfinite

import msgspec
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from rest_framework import serializers

from benchmarks.actions.drafts import DraftContent
from benchmarks.checks.check_set import raw_check
from benchmarks.checks.reasons import error_sentence
from benchmarks.errors import ChecksRefused
from benchmarks.forms.imports import formats
from benchmarks.imports.limits import (
    MAX_CASE_FILES,
    MAX_CHAT_MESSAGES,
    MAX_CHECKS,
    MAX_KEY,
    MAX_MESSAGES,
    MAX_PROMPTS,
    MAX_TAG,
    MAX_TEXT,
    MAX_TURNS,
)
from benchmarks.models import Check, Grade, Prompt, Run, Template, TemplateVersion
from benchmarks.pasting import PastedCase, PastedFile
from benchmarks.scoring import registry
from common.api.fields import ChoiceField
from common.payload_types import JsonObject
from common.text.encodings import CODECS
from common.text.storable import has_unstorable
from models_registry.models import LanguageModel
from models_registry.validators import validate_parameters

MAX_CASES_PER_REQUEST = 1_000
MAX_TAGS = 100


def check_storable(value: object) -> None:
    """Refuse infinite numbers, NUL and lone surrogates."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        msgspec.json.encode(value)
    except (ValueError, OverflowError, RecursionError) as error:
        raise serializers.ValidationError(_("This value cannot be stored.")) from error
    if has_unstorable(text) or "\\u0000" in text:
        raise serializers.ValidationError(_("It has characters that cannot be stored."))


def check_object(value: object) -> None:
    if not isinstance(value, dict):
        raise serializers.ValidationError(_('Write a JSON object, such as {"name": 1}.'))
    check_storable(value)


def check_parameters(value: object) -> None:
    check_object(value)
    try:
        validate_parameters(value)
    except ValidationError as error:
        raise serializers.ValidationError(error.messages) from error


def check_target(value: object) -> None:
    if not isinstance(value, str | list):
        raise serializers.ValidationError(_("Write a text, or a list."))
    check_storable(value)


class ValueField(serializers.JSONField):
    default_validators = [check_storable]


class ObjectField(serializers.JSONField):
    default_validators = [check_object]


class TargetField(serializers.JSONField):
    default_validators = [check_target]


class ParametersField(serializers.JSONField):
    default_validators = [check_parameters]


class ShareField(serializers.FloatField):
    """Number from 0 to 1; "nan" is none, which the limits alone would let through."""

    def __init__(self, **options: object) -> None:
        super().__init__(min_value=0, max_value=1, **options)  # type: ignore[arg-type]

    def to_internal_value(self, data: object) -> float:
        value = super().to_internal_value(data)  # type: ignore[arg-type]
        if not isfinite(value):
            self.fail("invalid")
        return value


class NewMessageSerializer(serializers.Serializer[None]):
    role = ChoiceField(choices=["system", "user", "assistant"])
    template = serializers.CharField(max_length=MAX_TEXT, trim_whitespace=False, allow_blank=True)


class NewPromptSerializer(serializers.Serializer[None]):
    label = serializers.CharField(max_length=80, allow_blank=True, default="")  # type: ignore[assignment]
    messages = serializers.ListField(child=NewMessageSerializer(), min_length=1, max_length=MAX_MESSAGES)
    turns = serializers.ListField(
        child=serializers.CharField(max_length=MAX_TEXT, trim_whitespace=False), max_length=MAX_TURNS, default=list
    )


class NewCheckSerializer(serializers.Serializer[None]):
    key = serializers.CharField(max_length=80)
    scorer = serializers.CharField(max_length=40)
    target = TargetField(allow_null=True, default=None)
    settings = ObjectField(default=dict)
    extract = serializers.ListField(child=ObjectField(), max_length=20, default=list)
    weight = serializers.FloatField(min_value=0, max_value=1e6, default=1)
    negate = serializers.BooleanField(default=False)
    threshold = ShareField(allow_null=True, default=None)
    is_gate = serializers.BooleanField(default=False)
    metric = serializers.CharField(max_length=80, allow_blank=True, default="")


def place_field() -> serializers.CharField:
    return serializers.CharField(
        required=False, allow_blank=True, max_length=40, help_text="Address of a team; empty: personal."
    )


class ContentSerializer(serializers.Serializer[None]):
    """Name and settings of a template; fields of a version replace its draft."""

    name = serializers.CharField(max_length=120)
    description = serializers.CharField(max_length=2_000, allow_blank=True, default="")
    visibility = ChoiceField(choices=Template.Visibility.choices, default=Template.Visibility.PRIVATE)
    held_out = serializers.BooleanField(default=False)
    variables = ObjectField(required=False)
    parameters = ParametersField(required=False)
    errors_count = ChoiceField(choices=TemplateVersion.ErrorsCount.choices, required=False)
    threshold = ShareField(allow_null=True, required=False)
    relevant_difference = ShareField(allow_null=True, required=False)
    prompts = serializers.ListField(child=NewPromptSerializer(), min_length=1, max_length=MAX_PROMPTS, required=False)
    checks = serializers.ListField(child=NewCheckSerializer(), max_length=MAX_CHECKS, required=False)

    CONTENT = frozenset(
        {"variables", "parameters", "errors_count", "threshold", "relevant_difference", "prompts", "checks"}
    )

    def validate_checks(self, checks: list[JsonObject]) -> list[JsonObject]:
        """Refuse bad settings and steps, except of scorers that only the child may import."""
        _refuse_bad_checks([{name: value for name, value in check.items() if name != "target"} for check in checks])
        return checks

    @property
    def changes_content(self) -> bool:
        return not self.CONTENT.isdisjoint(self.validated_data)

    def content(self, draft: TemplateVersion) -> DraftContent:
        """Return the sent content; what is absent stays as in the draft."""
        data: JsonObject = self.validated_data
        if "prompts" in data:
            prompts = [Prompt(**prompt) for prompt in data["prompts"]]
        else:
            prompts = [
                Prompt(label=prompt.label, messages=prompt.messages, turns=prompt.turns)
                for prompt in draft.prompts.all()
            ]
        sent = data["checks"] if "checks" in data else [raw_check(check) for check in draft.checks.all()]
        # A check without a target compares with the case's expected values.
        checks = [Check(**_stored(check)) for check in sent]
        return DraftContent(
            prompts, checks, data.get("parameters", draft.parameters), data.get("errors_count", draft.errors_count),
            data.get("variables"), data.get("threshold", draft.threshold),
            data.get("relevant_difference", draft.relevant_difference),
        )  # fmt: skip


def _refuse_bad_checks(checks: list[JsonObject]) -> None:
    errors = registry.errors_of_checks(checks, lambda check, position: [])
    if errors:
        raise ChecksRefused(fields={"checks": [error_sentence(error) for error in errors]})


def _stored(check: JsonObject) -> JsonObject:
    """Return a check's fields; a target that is a text becomes a list."""
    fields = {name: value for name, value in check.items() if value is not None}
    return fields | ({"target": [fields["target"]]} if isinstance(fields.get("target"), str) else {})


class NewTemplateSerializer(ContentSerializer):
    team = place_field()


class CopyTemplateSerializer(serializers.Serializer[None]):
    """version: by default the newest."""

    team = place_field()
    version = serializers.IntegerField(min_value=1, max_value=1_000_000, required=False)


class ChangeTemplateSerializer(ContentSerializer):
    archived = serializers.BooleanField(default=False)


class NewCaseFileSerializer(serializers.Serializer[None]):
    variable = serializers.CharField(max_length=MAX_KEY, default="file")
    upload = serializers.CharField(max_length=40)


class NewCaseSerializer(serializers.Serializer[None]):
    key = serializers.CharField(max_length=MAX_KEY, allow_blank=True, default="")
    variables = ObjectField(default=dict)
    expected = serializers.ListField(child=ValueField(), max_length=1_000, default=list)
    messages = serializers.ListField(child=ObjectField(), max_length=MAX_CHAT_MESSAGES, allow_null=True, default=None)
    checks = serializers.ListField(child=ObjectField(), max_length=MAX_CHECKS, allow_null=True, default=None)
    cluster = serializers.CharField(max_length=120, allow_blank=True, default="")
    tags = serializers.ListField(child=serializers.CharField(max_length=MAX_TAG), max_length=MAX_TAGS, default=list)
    metadata = ObjectField(default=dict)
    weight = serializers.FloatField(min_value=1e-6, max_value=1e6, default=1)
    files = serializers.ListField(child=NewCaseFileSerializer(), max_length=MAX_CASE_FILES, default=list)

    def validate_checks(self, checks: list[JsonObject] | None) -> list[JsonObject] | None:
        _refuse_bad_checks(checks or [])
        return checks


class NewCasesSerializer(serializers.Serializer[None]):
    cases = serializers.ListField(child=NewCaseSerializer(), min_length=1, max_length=MAX_CASES_PER_REQUEST)
    replace = serializers.BooleanField(default=False)

    @property
    def pasted(self) -> list[PastedCase]:
        return [
            PastedCase(**{**case, "files": [PastedFile(**file) for file in case["files"]]})
            for case in self.validated_data["cases"]
        ]


class NewEntrantSerializer(serializers.Serializer[None]):
    model = serializers.CharField(max_length=LanguageModel.MAX_NAME)
    prompt = serializers.IntegerField(min_value=1, max_value=MAX_PROMPTS, default=1)
    parameters = ParametersField(default=dict)
    is_baseline = serializers.BooleanField(default=False)


class EstimatedRunSerializer(serializers.Serializer[None]):
    template = serializers.CharField(max_length=40)
    team = place_field()
    version = serializers.IntegerField(min_value=1, max_value=1_000_000, required=False)
    models = serializers.ListField(
        child=serializers.CharField(max_length=LanguageModel.MAX_NAME), max_length=1_000, required=False
    )
    entrants = serializers.ListField(child=NewEntrantSerializer(), max_length=1_000, required=False)
    repeats = serializers.IntegerField(min_value=1, max_value=Run.MAX_REPEATS, default=1)
    concurrency = serializers.IntegerField(min_value=1, max_value=Run.MAX_CONCURRENCY, default=16)
    parameters = ParametersField(default=dict)

    @property
    def entrants_sent(self) -> list[JsonObject]:
        """Return entrants; one for each of `models`, with the first prompt."""
        data: JsonObject = self.validated_data
        plain = {"prompt": 1, "parameters": {}, "is_baseline": False}
        return [*({"model": slug, **plain} for slug in data.get("models", [])), *data.get("entrants", [])]


class NewRunSerializer(EstimatedRunSerializer):
    name = serializers.CharField(max_length=120, allow_blank=True, default="")
    attempts = serializers.IntegerField(min_value=1, max_value=Run.MAX_ATTEMPTS, default=3)
    budget = serializers.DecimalField(
        max_digits=14, decimal_places=8, min_value=Decimal("0.00000001"), allow_null=True, default=None
    )
    reuse_days = serializers.IntegerField(min_value=1, max_value=Run.MAX_REUSE_DAYS, allow_null=True, default=None)
    start = serializers.BooleanField(default=True)


class ChangeRunSerializer(serializers.Serializer[None]):
    name = serializers.CharField(max_length=120, allow_blank=True, required=False)
    budget = serializers.DecimalField(max_digits=14, decimal_places=8, required=False)


class LeaveOutSerializer(serializers.Serializer[None]):
    """entrant: id in the run's `entrants`."""

    entrant = serializers.IntegerField(min_value=1, max_value=2**63 - 1)


class PublishSerializer(serializers.Serializer[None]):
    """number: of the report that others read; null for always the newest."""

    readers = ChoiceField(choices=["none", "names", "numbers"])
    number = serializers.IntegerField(min_value=1, max_value=9_999, allow_null=True, default=None)


class NewGradeSerializer(serializers.Serializer[None]):
    """value: 0 or 1 for `pass`, 1 to 5 for `stars`."""

    kind = ChoiceField(choices=Grade.Kind.choices)
    value = serializers.IntegerField(min_value=0, max_value=5)
    comment = serializers.CharField(max_length=Grade.MAX_COMMENT, allow_blank=True, default="")

    def validate(self, attrs: JsonObject) -> JsonObject:
        low, high = (0, 1) if attrs["kind"] == Grade.Kind.PASS else (1, 5)
        if not low <= attrs["value"] <= high:
            sentence = _("Choose a number from %(low)s to %(high)s.") % {"low": low, "high": high}
            raise serializers.ValidationError({"value": [sentence]})
        return attrs


def check_mapping(value: object) -> None:
    check_object(value)
    if not isinstance(value, dict) or not all(isinstance(role, str) for role in value.values()):
        raise serializers.ValidationError(_("Give each column’s role as a text."))


class MappingField(serializers.JSONField):
    default_validators = [check_mapping]


class NewImportSerializer(serializers.Serializer[None]):
    """mapping: roles of a table's columns, as docs/benchmarks-import.md names them."""

    format = ChoiceField(choices=list(formats()), allow_blank=True, default="")
    sheet = serializers.CharField(max_length=100, allow_blank=True, default="")
    mapping = MappingField(default=dict)
    encoding = ChoiceField(choices=list(CODECS), allow_blank=True, default="")


class NewImportFileSerializer(NewImportSerializer):
    """Request for OpenAPI only; the view reads the file from the request itself."""

    file = serializers.FileField()


class ApplyImportSerializer(serializers.Serializer[None]):
    template = serializers.CharField(max_length=40, allow_blank=True, default="")
    team = place_field()
    with_answers = serializers.BooleanField(default=False)
