"""promptfoo's assertions become checks, and each of the others is listed with its line."""

import json

import msgspec

from benchmarks.imports.content import Check, Request
from benchmarks.imports.reading import read_import
from tests.benchmarks.imports import files

# line of promptfoo.yaml: (code, value of the report)
LEFT_OUT = {
    12: ("parameter_not_used", "mirostat"),
    13: ("provider_not_supported", "exec:./answer.sh"),
    52: ("check_not_supported", "javascript"),
    53: ("check_not_supported", "python"),
    54: ("check_not_supported", "similar"),
    55: ("judge_not_available", "llm-rubric"),
    56: ("judge_not_available", "factuality"),
    57: ("pattern_not_supported", "regex"),
    58: ("check_not_supported", "perplexity"),
    59: ("transform_not_supported", "contains"),
    65: ("key_not_used", "tests.options.transform"),
    74: ("key_not_used", "outputPath"),
}
DRAFT_7 = {"$schema": "http://json-schema.org/draft-07/schema#"}
CHECKS = [
    Check("equals-1", "equals", ["Paris"]),
    Check("json_equals-2", "json_equals", ['{"capital": "Paris"}']),
    Check("contains-3", "contains", ["{{ country }}"]),
    Check("icontains-4", "icontains", ["paris"], weight=2, metric="facts"),
    Check("contains-5", "contains", ["London"], negate=True),
    Check("contains_any-6", "contains_any", ["Paris", "Lutetia"]),
    Check("contains_all-7", "contains_all", ["Pa", "r,i"], settings={"partial": False}),
    Check("icontains_any-8", "icontains_any", ["paris"]),
    Check("icontains_all-9", "icontains_all", ["paris"], settings={"partial": False}),
    Check("starts_with-10", "starts_with", ["Pa"]),
    Check("regex-11", "regex", ["P.ris"]),
    Check("json_schema-12", "json_schema", settings={"schema": DRAFT_7 | {"type": "object", "required": ["capital"]}}),
    Check("is_json-13", "is_json", settings={"anywhere": True}),
    Check("is_xml-14", "is_xml"),
    Check("levenshtein-15", "levenshtein", ["Paris"], settings={"max_distance": 3}),
    Check(
        "bleu-16", "bleu", ["Paris is the capital"], threshold=0.5,
        settings={"tokenize": "none", "lowercase": True, "smoothing": "none"},
    ),
    Check("rouge_l-17", "rouge_l", ["Paris is the capital"], threshold=0.75),
    Check("refusal-18", "refusal"),
    Check("cost-19", "cost", settings={"max_dollars": 0.01}),
    Check("words-20", "words", settings={"max": 3, "by_spaces": True}),
    Check("finish_reason-21", "finish_reason", settings={"reasons": ["stop"]}),
    Check(
        "all_of-22", "all_of", threshold=0.5,
        settings={"checks": msgspec.to_builtins(
            [Check("contains-1", "contains", ["a"]), Check("contains-2", "contains", ["b"])]
        )},
    ),
]  # fmt: skip


def test_assertions_become_checks():
    template = files.read_sample("promptfoo.yaml").template
    assert template.cases[0].checks == CHECKS
    assert template.checks == [Check("default-latency-1", "latency", settings={"max_ms": 9000})]


def test_exactly_the_unsupported_is_left_out_with_line():
    entries = [entry for entry in files.read_sample("promptfoo.yaml").entries if entry.action == "left_out"]
    assert {entry.line: (entry.code, next(iter(entry.values.values()))) for entry in entries} == LEFT_OUT
    assert len(entries) == len(LEFT_OUT)
    assert all(entry.column for entry in entries)


def test_variables_expand_and_defaults_merge():
    cases = files.read_sample("promptfoo.yaml").template.cases
    assert [(case.key, case.variables["country"], case.variables["tone"]) for case in cases] == [
        ("France", "France", "kind"), ("South", "Spain", "kind"), ("South (2)", "Italy", "kind"),
        ("Andes", "Peru", "brief"), ("Andes (2)", "Chile", "brief"),
    ]  # fmt: skip
    assert [case.variables["prompt_prefix"] for case in cases] == ["", "Think. ", "Think. ", "", ""]
    assert (cases[0].metadata, cases[0].tags, cases[0].threshold) == (
        {"tags": ["geography"], "level": 1}, ["geography"], 0.5,
    )  # fmt: skip


def test_cells_have_types_and_thresholds():
    cases = files.read_sample("promptfoo_columns.csv").template.cases
    assert [case.checks for case in cases] == [
        [Check("contains-1", "contains", ["nitrogen"], metric="facts"),
         Check("icontains-2", "icontains", ["oxygen"], negate=True, metric="facts")],
        [Check("equals-1", "equals", ["white"]),
         Check("levenshtein-2", "levenshtein", ["white"], settings={"max_distance": 2})],
        [Check("icontains_any-1", "icontains_any", ["cat", "lynx, bobcat"])],
    ]  # fmt: skip
    assert cases[0].metadata == {"level": "1", "kinds": ["gas", "sky"]}
    assert cases[0].threshold == 0.5


def test_scenarios_merge_their_parts():
    content = b"""
prompts: ['{{ q }}']
scenarios:
  - config:
      - {vars: {q: [x, y], n: [1, 2]}, assert: [{type: contains, value: a}], metadata: {a: 1}}
      - {vars: {q: z}, threshold: 0.2}
    tests:
      - {assert: [{type: contains, value: b}, {type: webhook, value: w}], metadata: {b: 2}}
  - config: [{vars: {q: alone}}]
"""
    imported = read_import(content, Request("own.yaml"))
    cases = imported.template.cases
    assert [(case.variables, [check.target for check in case.checks]) for case in cases] == [
        ({"q": "x", "n": [1, 2]}, [["a"], ["b"]]), ({"q": "y", "n": [1, 2]}, [["a"], ["b"]]),
        ({"q": "z"}, [["b"]]), ({"q": "alone"}, []),
    ]  # fmt: skip
    assert [(case.metadata, case.threshold) for case in cases[1:3]] == [({"a": 1, "b": 2}, None), ({"b": 2}, 0.2)]
    assert [entry.code for entry in imported.entries if entry.action == "left_out"] == ["check_not_supported"]


def test_disabled_default_check_stays_with_other_cases():
    content = (
        b"prompts: ['{{ q }}']\ndefaultTest: {assert: [{type: contains, value: a}]}\ntests:\n"
        b"  - vars: {q: x}\n  - {vars: {q: y}, options: {disableDefaultAsserts: true}}\n"
    )
    template = read_import(content, Request("own.yaml")).template
    assert template.checks == []
    assert [[check.scorer for check in case.checks] for case in template.cases] == [["contains"], []]


def test_values_of_xml_and_schemas_are_read():
    assertions = [
        {"type": "is-xml", "value": "a.b, a.c"},
        {"type": "is-xml", "value": {"requiredElements": ["a"]}},
        {"type": "not-is-xml", "value": ["a.b"]},
        {"type": "is-xml", "value": []},
        {"type": "is-json", "value": "type: integer\nminimum: 3\n"},
        {"type": "is-json", "value": {"$schema": "https://json-schema.org/draft/2020-12/schema"}},
        *({"type": "is-xml", "value": value} for value in ("a.@_id", ["a.0"], {"elements": ["a"]}, 7)),
        {"type": "is-json", "value": "- a\n- b\n"},
    ]
    imported = read_import(
        json.dumps({"prompts": ["{{ x }}"], "tests": [{"vars": {"x": 1}, "assert": assertions}]}).encode(),
        Request("xml.json"),
    )
    checks = imported.template.cases[0].checks
    assert [(check.scorer, check.settings) for check in checks] == [
        ("is_xml", {"elements": ["a/b", "a/c"]}), ("is_xml", {"elements": ["a"]}), ("is_xml", {"elements": ["a/b"]}),
        ("is_xml", {}), ("json_schema", {"schema": DRAFT_7 | {"type": "integer", "minimum": 3}}),
        ("json_schema", {"schema": assertions[5]["value"]}),
    ]  # fmt: skip
    left_out = [entry.code for entry in imported.entries if entry.action == "left_out"]
    assert left_out == ["check_not_supported"] * 4 + ["schema_not_understood"]
