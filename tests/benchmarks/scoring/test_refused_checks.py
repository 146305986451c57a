import pytest

from benchmarks.scoring.check import Check, CheckError
from benchmarks.scoring.ports import ScoredAnswer, Verdict
from benchmarks.scoring.registry import BUILT_IN, checks_digest, errors_of_checks, prepare, target_error
from tests.benchmarks.scoring.scoring_one import registry, score

# (check, part of its reason)
BAD_CHECKS: list[tuple[dict[str, object], str]] = [
    ({"scorer": "telepathy"}, "unknown scorer 'telepathy'"),
    ({"scorer": "equals", "wieght": 1}, "unknown field `wieght`"),
    ({"scorer": "equals", "weight": -1}, ">= 0.0 - at `$.weight`"),
    ({"scorer": "equals", "weight": float("nan")}, "at `$.weight`"),
    ({"scorer": "equals", "threshold": 2}, "<= 1.0 - at `$.threshold`"),
    ({"scorer": "equals", "settings": {"case": 1}}, "unknown field `case`"),
    ({"scorer": "equals", "settings": {"ignore_patterns": ["(a"]}}, "missing ): (a"),
    ({"scorer": "contains", "target": [""]}, "the target has an empty text"),
    ({"scorer": "contains", "target": []}, "the target is empty"),
    ({"scorer": "regex", "target": ["ok", r"(a)\1"]}, r"RE2 refuses the pattern '(a)\\1': invalid escape sequence"),
    ({"scorer": "equals", "extract": [{"step": "regex", "pattern": "(?=a)"}]}, "invalid perl operator"),
    ({"scorer": "equals", "extract": [{"step": "regex", "pattern": "a", "group": 1}]}, "the pattern has 0 groups"),
    ({"scorer": "equals", "extract": [{"step": "guess"}]}, "Invalid value 'guess'"),
    ({"scorer": "number", "target": ["four"]}, "'four' is not one number"),
    ({"scorer": "words"}, "set min, max or both"),
    ({"scorer": "words", "settings": {"min": 3, "max": 2}}, "min is above max"),
    ({"scorer": "choice", "settings": {"choices": 1}}, "at `$.choices`"),
    ({"scorer": "bleu", "settings": {"tokenize": "flores200"}}, "Invalid enum value 'flores200'"),
    ({"scorer": "latency"}, "missing required field `max_ms`"),
    ({"scorer": "instructions", "settings": {"instruction_id_list": ["a:b"]}}, "unknown instruction 'a:b'"),
    (
        {"scorer": "instructions", "settings": {"instruction_id_list": ["length_constraints:number_words"]}},
        "missing required field `num_words`",
    ),
    ({"scorer": "json_schema", "settings": {"schema": {"type": "objet"}}}, "not a usable JSON Schema"),
    ({"scorer": "json_schema", "settings": {"schema": {"$ref": "http://a.example/s"}}}, "Retrieval is disabled"),
    ({"scorer": "json_schema", "settings": {"schema": {"$ref": "file:///etc/passwd"}}}, "Retrieval is disabled"),
    ({"scorer": "json_schema", "settings": {"schema": {"pattern": r"(a)\1"}}}, 'is not a "regex"'),
    ({"scorer": "expression", "settings": {"expression": "true &&\n(1 +"}}, "line 2, column 5: Syntax error"),
    ({"scorer": "expression", "settings": {"expression": "1" + "+1" * 60_000}}, "of length <= 4000"),
    ({"scorer": "at_least", "settings": {"count": 2, "checks": [{"scorer": "equals"}]}}, "count is above"),
    ({"scorer": "all_of", "settings": {"checks": []}}, "of length >= 1"),
    ({"scorer": "json_field", "settings": {"pointer": "a", "check": {"scorer": "equals"}}}, "starts with /"),
]


def errors(*checks: object) -> list[tuple[str, str]]:
    def ask_child(check: Check, position: str) -> list[CheckError]:
        return registry.errors(check, position)

    return [(error.position, error.message) for error in errors_of_checks(checks, ask_child)]


@pytest.mark.parametrize(("check", "message"), BAD_CHECKS, ids=lambda value: str(value)[:40])
def test_bad_check_is_refused_with_its_reason(check, message):
    [(position, found)] = errors({"scorer": "equals"}, check)
    assert position == "checks[1]"
    assert message in found


def test_errors_name_position_of_nested_check_and_twin_keys():
    nested = {"scorer": "any_of", "settings": {"checks": [{"scorer": "equals"}, {"scorer": "words"}]}}
    found = errors(
        {"scorer": "all_of", "settings": {"checks": [nested]}}, {"scorer": "equals", "key": "a"},
        {"scorer": "equals", "key": "a"}, "equals",
    )  # fmt: skip
    assert [position for position, _ in found] == [
        "checks[0].settings.checks[0].settings.checks[1]", "checks[2]", "checks[3]",
    ]  # fmt: skip


def test_deep_nesting_is_refused():
    check: dict[str, object] = {"scorer": "equals"}
    for _ in range(5):
        check = {"scorer": "all_of", "settings": {"checks": [check]}}
    [(_, message)] = errors(check)
    assert message == "checks are nested in more than 4 groups"


def test_missing_math_library_names_installation(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("benchmarks.scoring.scorers.mathematics.find_spec", lambda name: None)
    [(_, message)] = errors({"scorer": "math", "target": ["1"]})
    assert message == (
        "the check `math` needs math-verify: install it with `pip install math-verify` (the extra `math`)"
    )


def test_case_target_is_checked_through_groups():
    check = Check(scorer="all_of", settings={"checks": [{"scorer": "equals"}, {"scorer": "regex"}]})
    assert target_error(prepare(check), ["("]).startswith("RE2 refuses the pattern '('")
    assert target_error(prepare(check), ["a"]) == ""


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
