import pytest

from benchmarks.scoring.check import Check
from benchmarks.scoring.ports import ScoredAnswer, Verdict
from benchmarks.scoring.refusals import SENTENCES, CheckError
from benchmarks.scoring.registry import BUILT_IN, checks_digest, errors_of_checks, prepare, target_error
from tests.benchmarks.scoring.scoring_one import registry, score

# (check, field and code of its error, part of its reason)
BAD_CHECKS: list[tuple[dict[str, object], str, str, str]] = [
    ({"scorer": "telepathy"}, "scorer", "scorer_unknown", "'telepathy'"),
    ({"scorer": "equals", "wieght": 1}, "settings", "setting_unknown", "wieght"),
    ({"scorer": "equals", "weight": -1}, "weight", "number_out_of_range", "weight: A number >= 0.0"),
    ({"scorer": "equals", "weight": float("nan")}, "weight", "number_out_of_range", "weight: "),
    ({"scorer": "equals", "threshold": 2}, "threshold", "number_out_of_range", "threshold: A number <= 1.0"),
    ({"scorer": "equals", "settings": {"case": 1}}, "settings", "setting_unknown", "case"),
    ({"scorer": "equals", "settings": {"ignore_patterns": ["(a"]}}, "settings", "pattern_refused", "missing ): (a"),
    ({"scorer": "contains", "target": [""]}, "target", "target_text_empty", ""),
    ({"scorer": "contains", "target": []}, "target", "target_empty", ""),
    ({"scorer": "regex", "target": ["ok", r"(a)\1"]}, "target", "pattern_refused",
     r"The pattern '(a)\\1' is not allowed: invalid escape sequence"),
    ({"scorer": "equals", "extract": [{"step": "regex", "pattern": "(?=a)"}]}, "extract", "pattern_refused",
     "invalid perl operator"),
    ({"scorer": "equals", "extract": [{"step": "regex", "pattern": "a", "group": 1}]}, "extract",
     "pattern_group_missing", "extract[0]: The pattern has 0 groups: there is no group 1."),
    ({"scorer": "equals", "extract": [{"step": "guess"}]}, "extract", "value_unknown", "extract[0].step: “guess”"),
    ({"scorer": "number", "target": ["four"]}, "target", "target_no_number", "'four'"),
    ({"scorer": "words"}, "settings", "min_and_max_missing", ""),
    ({"scorer": "words", "settings": {"min": 3, "max": 2}}, "settings", "min_above_max", ""),
    ({"scorer": "choice", "settings": {"choices": 1}}, "settings", "number_out_of_range", "choices: A number >= 2"),
    ({"scorer": "bleu", "settings": {"tokenize": "flores200"}}, "settings", "value_unknown", "tokenize: “flores200”"),
    ({"scorer": "latency"}, "settings", "setting_missing", "max_ms"),
    ({"scorer": "instructions", "settings": {"instruction_id_list": ["a:b"]}}, "settings", "instruction_unknown",
     "'a:b'"),
    ({"scorer": "instructions", "settings": {"instruction_id_list": ["length_constraints:number_words"]}}, "settings",
     "setting_missing", "length_constraints:number_words: The setting “num_words” is missing."),
    ({"scorer": "json_schema", "settings": {"schema": {"type": "objet"}}}, "settings", "schema_unusable", "objet"),
    ({"scorer": "json_schema", "settings": {"schema": {"$ref": "http://a.example/s"}}}, "settings",
     "schema_unusable", "Retrieval is disabled"),
    ({"scorer": "json_schema", "settings": {"schema": {"$ref": "file:///etc/passwd"}}}, "settings",
     "schema_unusable", "Retrieval is disabled"),
    ({"scorer": "json_schema", "settings": {"schema": {"pattern": r"(a)\1"}}}, "settings", "schema_unusable",
     'is not a "regex"'),
    ({"scorer": "expression", "settings": {"expression": "true &&\n(1 +"}}, "settings", "expression_error",
     "Line 2, column 5: Syntax error"),
    ({"scorer": "expression", "settings": {"expression": "1" + "+1" * 60_000}}, "settings", "length_out_of_range",
     "expression: A length <= 4000"),
    ({"scorer": "at_least", "settings": {"count": 2, "checks": [{"scorer": "equals"}]}}, "settings",
     "count_above_checks", ""),
    ({"scorer": "all_of", "settings": {"checks": []}}, "settings", "length_out_of_range", "checks: A length >= 1"),
    ({"scorer": "json_field", "settings": {"pointer": "a", "check": {"scorer": "equals"}}}, "settings",
     "pointer_without_slash", ""),
]  # fmt: skip


def errors(*checks: object) -> list[CheckError]:
    return errors_of_checks(checks, registry.errors)


@pytest.mark.parametrize(("check", "field", "code", "reason"), BAD_CHECKS, ids=lambda value: str(value)[:40])
def test_bad_check_is_refused_with_its_reason(check, field, code, reason):
    [error] = errors({"scorer": "equals"}, check)
    assert (error.position, error.field, error.code) == ("checks[1]", field, code)
    assert reason in ": ".join([*error.places, SENTENCES[code] % error.values])


def test_errors_name_position_of_nested_check_and_twin_keys():
    nested = {"scorer": "any_of", "settings": {"checks": [{"scorer": "equals"}, {"scorer": "words"}]}}
    problems = errors(
        {"scorer": "all_of", "settings": {"checks": [nested]}}, {"scorer": "equals", "key": "a"},
        {"scorer": "equals", "key": "a"}, "equals",
    )  # fmt: skip
    assert [error.position for error in problems] == [
        "checks[0].settings.checks[0].settings.checks[1]", "checks[2]", "checks[3]",
    ]  # fmt: skip


def test_deep_nesting_is_refused():
    check: dict[str, object] = {"scorer": "equals"}
    for _ in range(5):
        check = {"scorer": "all_of", "settings": {"checks": [check]}}
    assert errors(check) == [
        CheckError(
            "checks[0].settings.checks[0].settings.checks[0].settings.checks[0].settings.checks[0]",
            "nested_too_deep",
            {"depth": 4},
        )
    ]


def test_missing_math_library_names_installation(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("benchmarks.scoring.scorers.mathematics.find_spec", lambda name: None)
    assert errors({"scorer": "math", "target": ["1"]}) == [CheckError("checks[0]", "math_not_installed")]


def test_case_target_is_checked_through_groups():
    check = Check(scorer="all_of", settings={"checks": [{"scorer": "equals"}, {"scorer": "regex"}]})
    refusal = target_error(prepare(check), ["("])
    assert refusal is not None
    assert (refusal.field, refusal.code, refusal.values["pattern"]) == ("target", "pattern_refused", "'('")
    assert target_error(prepare(check), ["a"]) is None


def test_digest_changes_with_checks_and_scorer_versions(monkeypatch: pytest.MonkeyPatch):
    checks = [Check(scorer="all_of", settings={"checks": [{"scorer": "equals"}]})]
    digests = [checks_digest(checks), checks_digest(checks), checks_digest([Check(scorer="equals")])]
    monkeypatch.setattr(BUILT_IN["equals"], "version", "99")
    digests.append(checks_digest(checks))
    assert digests[0] == digests[1]
    assert len(set(digests)) == 3


@pytest.mark.parametrize(
    "result",
    [Verdict(value=float("nan")), Verdict(value=float("inf")), Verdict(value=1.1), Verdict(), OSError("\ud800")],
)
def test_unusable_result_is_unscored(monkeypatch: pytest.MonkeyPatch, result: Verdict | Exception):
    def give(answer: ScoredAnswer, target: list[object], settings: object) -> Verdict:
        if isinstance(result, Exception):
            raise result
        return result

    monkeypatch.setattr(BUILT_IN["equals"], "score", give)
    verdict = score("equals", "a", ["a"], negate=True)
    assert (verdict.value, verdict.passed, verdict.error) == (None, None, "scorer_failed")
    assert len(verdict.detail.encode()) <= 4000
