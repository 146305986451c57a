"""All kinds of checks in their groups."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django import forms
from django.utils.translation import gettext_lazy as _

from benchmarks.forms.checks.kinds import (
    PREFIX,
    RANGE,
    Kind,
    LinesField,
    MakeField,
    ScaledField,
    choice,
    flag,
    language_field,
    pointer_field,
    whole,
)
from benchmarks.forms.fields import JSONField
from common.payload_types import JsonObject

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

_IGNORE_CASE = flag(_("Capital and small letters are the same"), initial=True)
_TEXTS: Mapping[str, MakeField] = {
    "ignore_case": _IGNORE_CASE,
    "ignore_punctuation": flag(_("Punctuation does not count")),
    "ignore_articles": flag(_("“a”, “an” and “the” do not count")),
}
_MATCH_CASE = {"match_case": flag(_("Capital letters count"))}
_ANYWHERE = flag(_("Also inside other text or a code block"), initial=True)
_ANY_CASE: JsonObject = {"ignore_case": True}


class FieldKind(Kind):
    """One field of a JSON answer, compared by another scorer without settings."""

    def settings(self, values: Mapping[str, object]) -> JsonObject:
        settings: JsonObject = {
            "pointer": values[f"{PREFIX}pointer"], "check": {"scorer": values[f"{PREFIX}inner"]},
        }  # fmt: skip
        return settings | ({"anywhere": True} if values[f"{PREFIX}anywhere"] else {})

    def values(self, settings: JsonObject) -> JsonObject | None:
        inner = settings.get("check")
        names = [name for name, _label in _INNER]
        if not settings.keys() <= {"pointer", "check", "anywhere"} or not isinstance(inner, dict):
            return None
        if inner.keys() != {"scorer"} or inner["scorer"] not in names:
            return None
        return {
            f"{PREFIX}pointer": settings.get("pointer", ""), f"{PREFIX}inner": inner["scorer"],
            f"{PREFIX}anywhere": settings.get("anywhere", False),
        }  # fmt: skip


_INNER = (
    ("equals", _("is equal to the expected answer")), ("iequals", _("is equal, capital or small")),
    ("icontains", _("contains the expected text")), ("number", _("has the expected number")),
)  # fmt: skip
_RIGHT, _WORDS, _REFERENCES = _("Right answers"), _("Words"), _("Reference texts")


def _overlap(name: str, label: "_StrPromise") -> Kind:
    return Kind(name, label, target=_REFERENCES, needs_threshold=True)


@dataclass(frozen=True)
class Group:
    label: "_StrPromise"
    sentence: "_StrPromise"
    example: "_StrPromise"
    kinds: tuple[Kind, ...]


GROUPS = (
    Group(
        _("Equal"),
        _("The whole answer is the expected one."),
        _("Expected “Paris”: “paris” is right, “It is Paris.” is not."),
        (
            Kind("equals", _("is equal to the expected answer"), _TEXTS, _RIGHT, {"iequals": _ANY_CASE}),
            Kind(
                "fuzzy", _("is similar to the expected answer"),
                {"threshold": lambda: ScaledField(
                    _("Similar from (percent)"), scale=100, required=True, initial=0.75
                 ), "ignore_case": _IGNORE_CASE}, _RIGHT,
            ),
            Kind(
                "levenshtein", _("differs by few characters"),
                {"max_distance": whole(_("Characters at most"), required=True, initial=5),
                 "ignore_case": _IGNORE_CASE}, _RIGHT,
            ),
        ),
    ),
    Group(
        _("Contains"),
        _("The expected text stands somewhere in the answer."),
        _("Expected “Paris”: “The capital is Paris.” is right."),
        (
            Kind(
                "contains_any", _("contains the expected text"), _TEXTS, _RIGHT,
                {"contains": {}, "icontains": _ANY_CASE, "icontains_any": _ANY_CASE},
            ),
            Kind(
                "contains_all", _("contains all expected texts"),
                {**_TEXTS, "partial": flag(_("Some of them give a part of the score"), initial=True)}, _RIGHT,
                {"icontains_all": _ANY_CASE},
            ),
            Kind("starts_with", _("begins with the expected text"), _TEXTS, _RIGHT),
            Kind("ends_with", _("ends with the expected text"), _TEXTS, _RIGHT),
            Kind("either_contains", _("contains the expected text, or is a part of it"), _TEXTS, _RIGHT),
        ),
    ),
    Group(
        _("Number"),
        _("The number in the answer has the expected value, however it is written."),
        _("Expected 1200: “about 1,200 km” is right."),
        (
            Kind(
                "number", _("has the expected number"),
                {
                    "tolerance_rel": lambda: ScaledField(_("May differ by (percent)"), scale=100),
                    "tolerance_abs": lambda: ScaledField(_("May differ by (in its own unit)")),
                    "which": choice(_("Of several numbers"), (
                        ("last", _("the last")), ("first", _("the first")), ("only", _("none: there may be one only")),
                    )),
                    "units": lambda: LinesField(
                        _("Units"), help_text=_("Only a number with one of them counts, such as km.")
                    ),
                    "decimal_comma": flag(_("1,5 is one and a half, and 1.500 is fifteen hundred")),
                    "words": flag(_("Numbers in words count, such as “twelve”")),
                }, _RIGHT,
            ),
            Kind("math", _("is the same formula"), {}, _RIGHT),
        ),
    ),
    Group(
        _("Choice"),
        _("The answer names the right one of several choices, by its letter or its text."),
        _("Expected “B”: “Answer: B” and “I choose (B)” are right."),
        (
            Kind(
                "choice", _("names the right choice"),
                {
                    "choices": whole(_("Number of choices"), required=True, initial=4),
                    "labels": choice(_("The choices are"), (
                        ("letters", _("A, B, C")), ("numbers", _("1, 2, 3")), ("roman", _("I, II, III")),
                    )),
                }, _RIGHT,
            ),
        ),
    ),
    Group(
        _("Form and length"),
        _("The answer is long or short enough, has certain words, or is written in a certain way."),
        _("At most 40 words; exactly 3 bullet points; without the word “maybe”."),
        (
            Kind("words", _("has so many words"), RANGE),
            Kind("characters", _("has so many characters"), RANGE),
            Kind("sentences", _("has so many sentences"), RANGE),
            Kind("bullets", _("has so many bullet points"), RANGE),
            Kind("paragraphs", _("has so many paragraphs"), RANGE),
            Kind("all_words", _("has all of these words"), _MATCH_CASE, _WORDS),
            Kind("no_words", _("has none of these words"), _MATCH_CASE, _WORDS),
            Kind("quoted", _("stands in quotation marks")),
            Kind("title_case", _("has a capital letter at each word")),
            Kind("upper_case", _("has capital letters only")),
            Kind("lower_case", _("has small letters only")),
        ),
    ),
    Group(
        _("JSON"),
        _("The answer is JSON, and has the fields or values that you expect."),
        _("Expected 41 in the field age: {\"name\": \"Lena\", \"age\": 41} is right."),
        (
            FieldKind(
                "json_field", _("has the expected value in one field"),
                {"pointer": pointer_field, "inner": choice(_("The field"), _INNER), "anywhere": _ANYWHERE}, _RIGHT,
            ),
            Kind("json_equals", _("has all expected fields and values"), {"anywhere": _ANYWHERE}, _RIGHT),
            Kind("is_json", _("is JSON"), {"anywhere": _ANYWHERE}),
            Kind(
                "json_schema", _("fits a JSON Schema"),
                {"anywhere": _ANYWHERE, "schema": lambda: JSONField(_("Schema"), "object", rows=5)},
            ),
            Kind("is_xml", _("is XML"), {
                "elements": lambda: LinesField(
                    _("Elements"), help_text=_("Paths that must be there, such as order/item.")
                ),
            }),
        ),
    ),
    Group(
        _("Language"),
        _("The answer is in a language, or close to a reference text such as a good translation."),
        _("French: “Bonjour à tous, et merci d’être là.” is right."),
        (
            Kind("language", _("is in a language"), {"language": language_field}),
            _overlap("chrf", _("is close to a reference in its letters (chrF)")),
            _overlap("bleu", _("is close to a reference in its words (BLEU)")),
            _overlap("rouge_l", _("follows a reference in its words (ROUGE-L)")),
            _overlap("ter", _("needs few changes to be a reference (TER)")),
        ),
    ),
    Group(
        _("Code and rules"),
        _("The answer has code, matches a pattern, is a refusal, or is quick and cheap enough."),
        _("A block of Python; a date such as 2026-05-03; an answer within 5 seconds."),
        (
            Kind("contains_code", _("has a block of code"), {
                "language": lambda: forms.CharField(
                    label=_("Programming language"), required=False, max_length=40, help_text=_("Empty: any."),
                ),
            }),
            Kind("regex", _("matches a pattern"), {
                "ignore_case": _IGNORE_CASE, "whole": flag(_("The whole answer must match")),
                "dot_all": flag(_("The dot matches line breaks")),
            }, _("Patterns (regular expressions)")),
            Kind("expression", _("fulfils a condition"), {
                "expression": lambda: forms.CharField(
                    label=_("Condition (CEL)"), max_length=4_000,
                    widget=forms.Textarea(attrs={"rows": 2, "class": "code"}),
                    help_text=_("For example: size(text) < 200 && text.contains(variables.city)"),
                ),
            }),
            Kind("refusal", _("is a refusal"), {
                "phrases": lambda: LinesField(_("More phrases that refuse")),
            }),
            Kind("latency", _("is complete in time"), {
                "max_ms": lambda: ScaledField(_("Seconds at most"), scale=0.001, required=True),
            }),
            Kind("first_token", _("begins in time"), {
                "max_ms": lambda: ScaledField(_("Seconds at most"), scale=0.001, required=True),
            }),
            Kind("cost", _("is cheap enough"), {
                "max_dollars": lambda: ScaledField(_("Dollars at most"), required=True),
            }),
            Kind("tokens", _("has few enough tokens"), {
                "max_tokens": whole(_("Tokens at most"), required=True),
                "count": choice(_("Counted are those of"), (
                    ("answer", _("the answer")), ("prompt", _("the prompt")), ("both", _("both")),
                )),
            }),
            Kind("finish_reason", _("ended by itself"), {}),
        ),
    ),
)  # fmt: skip
KINDS: Mapping[str, Kind] = {kind.name: kind for group in GROUPS for kind in group.kinds}
_BY_SCORER: Mapping[str, tuple[Kind, JsonObject]] = {
    **{kind.name: (kind, {}) for kind in KINDS.values()},
    **{alias: (kind, preset) for kind in KINDS.values() for alias, preset in kind.aliases.items()},
}


def kind_of(scorer: str, settings: JsonObject) -> tuple[Kind, JsonObject] | None:
    """Return the kind of a scorer and form values of its settings, None if there are no fields for them."""
    if scorer not in _BY_SCORER:
        return None
    kind, preset = _BY_SCORER[scorer]
    values = kind.values(preset | settings)
    return None if values is None else (kind, values)


def kind_choices() -> list[tuple["_StrPromise", list[tuple[str, "_StrPromise"]]]]:
    return [(group.label, [(kind.name, kind.label) for kind in group.kinds]) for group in GROUPS]
