"""Checks made in fields, and stored checks shown in fields."""

import msgspec
import pytest
from django.http import QueryDict

from benchmarks.built_in.reading import read_all
from benchmarks.forms.checks.catalogue import GROUPS, KINDS
from benchmarks.forms.checks.form import CheckForm
from benchmarks.forms.checks.reading import read_check
from benchmarks.scoring import registry
from benchmarks.scoring.check import Check
from common.payload_types import JsonObject

# What a person types for kinds whose first fields are empty.
TYPED = {
    "words": {"setting_min": "5", "setting_max": "40"}, "characters": {"setting_max": "9"},
    "sentences": {"setting_min": "1"}, "bullets": {"setting_min": "3", "setting_max": "3"},
    "paragraphs": {"setting_max": "2"}, "all_words": {"target": "rain\nsun"}, "no_words": {"target": "maybe"},
    "json_field": {"setting_pointer": "age", "setting_inner": "number"},
    "json_schema": {"setting_schema": '{"type": "object"}'}, "regex": {"target": r"\d{4}-\d\d-\d\d"},
    "expression": {"setting_expression": "size(text) < 200"}, "latency": {"setting_max_ms": "2.5"},
    "first_token": {"setting_max_ms": "1"}, "cost": {"setting_max_dollars": "0.01"},
    "tokens": {"setting_max_tokens": "100", "setting_count": "both"}, "is_xml": {"setting_elements": "order/item"},
}  # fmt: skip


def raw(scorer: str, **values: object) -> JsonObject:
    return msgspec.json.decode(msgspec.json.encode(Check(scorer=scorer, key="a"))) | values


def filled(kind: str, **typed: str) -> CheckForm:
    """Return the form as a browser sends it, from a page with all fields of the kind."""
    data = QueryDict(mutable=True)
    data["kind"] = kind
    page = CheckForm(data)
    sent = page.data.copy()
    sent.update(typed)
    form = CheckForm(sent)
    assert form.errors == {}
    return form


def shown_again(check: JsonObject, **typed: str) -> CheckForm:
    """Return the form of a stored check as a browser sends it back."""
    values = CheckForm.initial_of(check)
    page, data = CheckForm(initial=values), QueryDict(mutable=True)
    data.update({name: str(value) for name in page.fields if (value := page[name].value()) not in (None, False, "")})
    data.update(typed)
    form = CheckForm(data, stored=[(read_check(check), check)])
    assert form.errors == {}
    return form


@pytest.mark.parametrize("kind", KINDS)
def test_check_made_in_fields_opens_with_the_same_fields(kind: str):
    form = filled(kind, part="after_mark", mark="####", weight="0.5", is_gate="on", **TYPED.get(kind, {}))
    stored = form.raw()
    assert registry.errors_of_checks([stored], lambda check, position: []) == []
    again = shown_again(stored)
    same = [name for name in form.fields if name != "key"]
    assert {name: form.cleaned_data[name] or 0 for name in same} == {
        name: again.cleaned_data[name] or 0 for name in same
    }
    assert again.raw() == stored


@pytest.mark.parametrize("built_in", [*read_all()], ids=lambda built_in: built_in.slug)
def test_built_in_template_opens_without_json(built_in):
    checks = [{name: getattr(check, name) for name in Check.__struct_fields__} for check in built_in.checks]
    assert [read_check(check) is not None for check in checks] == [True] * len(checks)


@pytest.mark.parametrize(
    "check",
    [
        raw("icontains", target=["Paris"]),
        raw("iequals", settings={"ignore_punctuation": True}),
        raw("contains_any", settings={"ignore_case": False}, extract=[{"step": "last_line"}]),
        raw("number", settings={"tolerance_rel": 0.01, "units": ["km", "m"]}),
    ],
    ids=lambda check: check["scorer"],
)
def test_unchanged_check_keeps_its_spelling(check: JsonObject):
    assert shown_again(check).raw() == check
    changed = shown_again(check, weight="3").raw()
    assert read_check(changed) == read_check(check | {"weight": 3})


@pytest.mark.parametrize(
    "check",
    [
        raw("all_of", settings={"checks": [{"scorer": "equals"}]}),
        raw("equals", settings={"ignore_patterns": ["a"]}),
        raw("equals", extract=[{"step": "regex", "pattern": "#### (.+)", "group": 1}]),
        raw("equals", extract=[{"step": "last_line"}, {"step": "last_number"}]),
        raw("equals", target=["two\nlines"]),
        raw("equals", target=[4]),
        raw("is_json", target=["{}"]),
        raw("choice", settings={"choices": ["Lyon", "Paris"]}),
        raw("json_field", settings={"pointer": "/a", "check": {"scorer": "equals", "target": ["b"]}}),
        raw("short_sentences"),
    ],
)
def test_check_without_fields_opens_as_json(check: JsonObject):
    form = CheckForm(initial=CheckForm.initial_of(check))
    assert form["kind"].value() == "json"
    assert "settings" in form.fields


def test_every_scorer_is_chosen_by_its_meaning():
    labels = [str(kind.label) for kind in KINDS.values()]
    assert len(set(labels)) == len(labels)
    assert [len(group.kinds) > 0 for group in GROUPS] == [True] * 8
    known = {*KINDS, *(alias for kind in KINDS.values() for alias in kind.aliases)}
    assert set(registry.BUILT_IN) - known == {"all_of", "any_of", "at_least", "instructions"}


@pytest.mark.parametrize(
    ("kind", "typed", "name"),
    [
        ("words", {"setting_min": "5", "setting_max": "40"}, "has so many words: 5 to 40"),
        ("contains_any", {"target": "Paris\nParigi"}, "contains the expected text: Paris, Parigi"),
        ("language", {"setting_language": "fr"}, "is in a language (Language: French)"),
        ("equals", {"key": "mine"}, "mine"),
    ],
)
def test_name_of_a_check_says_what_it_does(kind: str, typed: dict[str, str], name: str):
    assert filled(kind, **typed).raw()["key"] == name


def test_kind_can_change_without_losing_values():
    data = filled("contains_any", target="Paris", weight="2").data.copy()
    data["kind"] = "starts_with"
    changed = CheckForm(data)
    assert changed.is_valid()
    assert {name: changed.raw()[name] for name in ("scorer", "target", "weight", "settings")} == {
        "scorer": "starts_with", "target": ["Paris"], "weight": 2, "settings": {"ignore_case": True},
    }  # fmt: skip
    data["kind"] = "json"
    as_json = CheckForm(data)
    assert as_json["settings"].value() == '{\n  "ignore_case": true\n}'
    assert (as_json["scorer"].value(), as_json["target"].value()) == ("contains_any", "Paris")
