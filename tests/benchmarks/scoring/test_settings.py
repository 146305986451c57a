"""Settings of docs/benchmarks.md that change a verdict: rows of scorer, settings, target, answer and value."""

import msgspec
import pytest

from benchmarks.scoring.check import Check
from benchmarks.scoring.ports import ScoredAnswer
from benchmarks.scoring.registry import BUILT_IN, prepare
from tests.benchmarks.scoring.scoring_one import score

LATEX = r"\frac{1}{3}"
DRAFT_7 = "http://json-schema.org/draft-07/schema#"
TUPLE = {"items": [{"type": "string"}]}
VALUES = [
    ("regex", {}, ["a.b"], "a\nb", 0),
    ("regex", {"dot_all": True}, ["a.b"], "a\nb", 1),
    ("levenshtein", {"max_distance": 0}, ["KITTEN"], "kitten", 0),
    ("levenshtein", {"max_distance": 0, "ignore_case": True}, ["KITTEN"], "kitten", 1),
    ("starts_with", {"ignore_case": True, "ignore_punctuation": True}, ["once upon"], "“Once, upon” a time", 1),
    ("contains", {"ignore_patterns": [r"\s+"]}, ["ab"], "a b", 1),
    ("rouge_l", {"measure": "recall"}, ["a b c d"], "a b", 0.5),
    ("rouge_l", {"measure": "precision"}, ["a b c d"], "a b", 1),
    ("ter", {}, ["A cat sat ."], "a cat sat .", 1),
    ("ter", {"case_sensitive": True}, ["A cat sat ."], "a cat sat .", 0.75),
    ("ter", {"no_punct": True}, ["A cat sat ."], "a cat sat", 1),
    ("ter", {"normalized": True}, ["a cat sat."], "a cat sat .", 1),
    ("chrf", {}, ["A CAT"], "a cat", 0),
    ("chrf", {"lowercase": True}, ["A CAT"], "a cat", 1),
    ("json_field", {"pointer": "/a", "check": {"scorer": "equals"}}, ["x"], 'So: {"a": "x"}', "not_extracted"),
    ("json_field", {"pointer": "/a", "check": {"scorer": "equals"}, "anywhere": True}, ["x"], 'So: {"a": "x"}', 1),
    ("json_schema", {"schema": {"prefixItems": [{"type": "string"}]}}, [], "[1]", 0),
    ("json_schema", {"schema": {"$schema": DRAFT_7, "prefixItems": [{"type": "string"}]}}, [], "[1]", 1),
    ("json_schema", {"schema": {"$schema": DRAFT_7, **TUPLE}}, [], "[1]", 0),
    ("expression", {"expression": "metadata.level == 2 && answer.finish_reason == 'stop'"}, [], "any", 1),
]  # fmt: skip


@pytest.mark.parametrize(("scorer", "settings", "target", "text", "value"), VALUES)
def test_setting_changes_the_value(scorer: str, settings: dict[str, object], target: list[str], text: str, value):
    verdict = score(scorer, ScoredAnswer(text=text, metadata={"level": 2}, finish_reason="stop"), target, settings)
    wanted = (0, "not_extracted") if value == "not_extracted" else (value, "")
    assert (verdict.value, verdict.label) == (pytest.approx(wanted[0]), wanted[1])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "target", "text", "value"),
    [({}, LATEX, "0.333", 0), ({"float_rounding": 3}, LATEX, "0.333", 1)],
)  # fmt: skip
def test_decimals_of_mathematics_are_rounded(settings: dict[str, object], target: str, text: str, value: int):
    assert score("math", text, [target], settings).value == value


@pytest.mark.parametrize(
    "scorer", ["equals", "contains", "either_contains", "starts_with", "ends_with", "regex", "fuzzy", "levenshtein"]
)
def test_texts_are_compared_in_one_form(scorer: str):
    settings = {"levenshtein": {"max_distance": 0}, "regex": {"whole": True}}.get(scorer, {})
    assert score(scorer, "\ufeffcafe\u0301\r\nau lait\n", ["café\nau lait"], settings).value == 1


@pytest.mark.parametrize(("finish", "value"), [("content_filter", 1), ("stop", 0)])
def test_answer_cut_by_a_filter_is_a_refusal(finish: str, value: int):
    assert score("refusal", ScoredAnswer(text="Well, first", finish_reason=finish)).value == value


def test_word_order_of_chrf_is_in_its_signature():
    plain, ordered = (score("chrf", "a b", ["b a"], {"word_order": order}) for order in (0, 2))
    assert ("nw:0" in plain.detail, "nw:2" in ordered.detail) == (True, True)


@pytest.mark.parametrize(
    ("step", "text", "part"),
    [
        ({"step": "regex", "pattern": r"(\d+) km|(\d+) m", "any_group": True}, "it is 5 m", "5"),
        ({"step": "regex", "pattern": "ANSWER", "ignore_case": True}, "my answer", "answer"),
        ({"step": "regex", "pattern": "#### (.+)", "group": 1, "which": "last"}, "#### 1\n#### 3,000", "3,000"),
        ({"step": "last_number", "decimal_comma": True}, "1.000,5 Euro", "1.000,5"),
        ({"step": "letter", "choices": 3}, "The answer is (B).", "B"),
        ({"step": "code_fence", "index": 1}, "```\na\n```\n```py\nb\n```", "b"),
        ({"step": "strip_reasoning"}, "<thinking>a</thinking>b", "b"),
        ({"step": "json_pointer", "pointer": "/items/0/name"}, '```json\n{"items": [{"name": "x"}]}\n```', "x"),
    ],
)
def test_step_takes_its_part(step: dict[str, object], text: str, part: str):
    assert score("equals", text, [part], extract=[step]).value == 1


def test_documented_scorers_run_in_the_child():
    needed = {name for name in BUILT_IN if name not in GROUPS and prepare(_least_check(name)).needs_child}
    assert needed == {"math", "expression", "json_schema", "is_xml", "bleu", "chrf", "ter", "rouge_l"}


GROUPS = {"all_of", "any_of", "at_least", "json_field"}
LEAST: dict[str, dict[str, object]] = {
    "words": {"max": 1}, "characters": {"max": 1}, "sentences": {"max": 1}, "bullets": {"max": 1},
    "paragraphs": {"max": 1}, "language": {"language": "fr"}, "latency": {"max_ms": 1}, "first_token": {"max_ms": 1},
    "cost": {"max_dollars": 1}, "tokens": {"max_tokens": 1}, "json_schema": {"schema": {}},
    "expression": {"expression": "true"}, "instructions": {"instruction_id_list": ["punctuation:no_comma"]},
}  # fmt: skip


def _least_check(name: str) -> Check:
    return msgspec.convert({"scorer": name, "settings": LEAST.get(name, {})}, Check)
