"""Tasks of other tools: what they accept is right here, and what cannot be kept is told with its line."""

import json

import pytest

from benchmarks.imports.content import Imported, Request
from benchmarks.imports.reading import read_import
from benchmarks.scoring.ports import ScoredAnswer
from tests.benchmarks.imports.files import archive
from tests.benchmarks.scoring.scoring_one import score


def lm_eval(task: str, *documents: dict[str, object]) -> Imported:
    rows = "\n".join(map(json.dumps, documents))
    return read_import(archive({"task.yaml": task.encode(), "docs.jsonl": rows.encode()}), Request("task.zip"))


def evals(arguments: str, kind: str, *samples: dict[str, object], more: str = "", **files: str) -> Imported:
    registry = f"own.v0:\n  class: evals.elsuite.basic:{kind}\n  args:\n    samples_jsonl: own/samples.jsonl\n"
    rows = "\n".join(map(json.dumps, samples)).encode()
    content = {"own.yaml": f"{registry}{arguments}{more}".encode(), "own/samples.jsonl": rows}
    content |= {f"own/{name}.jsonl": text.encode() for name, text in files.items()}
    return read_import(archive(content), Request("own.zip"))


def values(imported: Imported, answer: str, case: int = 0) -> dict[str, float | None]:
    """Return the value of each check of a template on an answer."""
    assert not imported.is_refused, imported.entries
    sample = imported.template.cases[case]
    return {
        check.key: score(
            check.scorer, ScoredAnswer(text=answer, variables=sample.variables), sample.expected, check.settings,
            extract=check.extract,
        ).value
        for check in imported.template.checks
    }  # fmt: skip


def told(imported: Imported) -> list[tuple[str, int]]:
    return [(entry.code, entry.line) for entry in imported.entries if entry.action in ("changed", "left_out")]


ACCEPTED = """task: own
doc_to_text: "Q: {{question}}"
doc_to_target: "%s"
metric_list: [{metric: exact_match, ignore_case: true, ignore_punctuation: true}]
"""


@pytest.mark.parametrize(
    ("target", "answer"),
    [
        ("{{answer}}", ["Big Ben", "the tower"]),
        ("{{answer.aliases}}", {"aliases": ["Big Ben", "the tower"]}),
        ("{{ [answer, 'the tower'] }}", "Big Ben"),
    ],
)
def test_any_of_accepted_answers_is_right(target, answer):
    imported = lm_eval(ACCEPTED % target, {"question": "Which?", "answer": answer})
    assert imported.template.cases[0].expected == ["Big Ben", "the tower"]
    assert [values(imported, text)["exact_match-none"] for text in ("big ben.", "The tower", "Ben")] == [1, 1, 0]


SUMS = r"""task: own
doc_to_text: "Question: {{question}}"
doc_to_target: "{{answer}}"
metric_list:
  - metric: exact_match
    regexes_to_ignore: [",", "\\$", "(?s).*#### ", "\\.$"]
filter_list:
  - name: strict
    filter: [{function: regex, regex_pattern: "#### (\\-?[0-9\\.\\,]+)"}, {function: take_first}]
  - name: flexible
    filter:
      - {function: regex, group_select: -1, regex_pattern: "(-?[$0-9.,]{2,})|(-?[0-9]+)"}
      - {function: take_first}
"""


def test_filters_are_metrics_of_their_own():
    imported = lm_eval(SUMS, {"question": "2 + 5?", "answer": "Add.\n#### 7"})
    scores = {text: tuple(values(imported, text).values()) for text in ("It is 7", "#### 7", "#### 7, so 8", "#### 12")}
    assert scores == {"It is 7": (0, 1), "#### 7": (1, 1), "#### 7, so 8": (1, 0), "#### 12": (0, 0)}
    assert [(check.metric, check.weight) for check in imported.template.checks] == [
        ("exact_match-strict", 1), ("exact_match-flexible", 0),
    ]  # fmt: skip
    assert told(imported) == [("first_check_counts", 8)]


CHOICE = """task: own
output_type: multiple_choice
doc_to_text: "Question: {{question}}"
doc_to_target: "{{choices.label.index(answerKey.lstrip())}}"
doc_to_choice: "{{choices.text}}"
"""


def test_column_of_choices_with_labels_is_kept():
    given = {"text": ["stone", "pear", "iron"], "label": ["1", "2", "3"]}
    imported = lm_eval(CHOICE, {"question": "Which is a fruit?", "choices": given, "answerKey": " 2"})
    case = imported.template.cases[0]
    assert (case.variables["choices"], case.variables["choice_texts"]) == (given, given["text"])
    assert case.expected == ["B"]
    assert [values(imported, text)["choice"] for text in ("Answer: B", "It is a pear.", "Answer: A")] == [1, 1, 0]
    assert "for choice in choice_texts" in imported.template.prompts[0].messages[-1].text


def test_choices_have_one_variable_in_all_cases():
    task = CHOICE.replace("choices.text", "choices[:2]").replace("choices.label.index(answerKey.lstrip())", "answer")
    imported = lm_eval(
        task, {"question": "One?", "choices": ["1", "2"], "answer": 0},
        {"question": "Two?", "choices": ["1", "2", "3"], "answer": 1},
    )  # fmt: skip
    assert [case.variables["choice_texts"] for case in imported.template.cases] == [["1", "2"], ["1", "2"]]


def test_options_that_cannot_be_kept_are_told():
    task = SUMS.replace("group_select: -1", "group_select: 2").replace('",", ', '"(?<=a)b", ')
    imported = lm_eval(f"{task}unknown_key: 1\n", {"question": "", "answer": "1"})
    assert {code for code, line in told(imported) if line} == {
        "filter_not_supported", "pattern_not_supported", "key_not_used",
    }  # fmt: skip


CHAT = [{"role": "system", "content": "Be short."}, {"role": "user", "content": "Who?"}]


def test_fuzzy_match_of_evals_ignores_what_evals_ignores():
    imported = evals("", "FuzzyMatch", {"input": CHAT, "ideal": ["The Eiffel Tower"]})
    texts = ("eiffel tower!", "It is the  Eiffel-Tower", "It is an Eiffel\nTower.", "Tower", "a", "")
    assert [values(imported, text)["fuzzy_match"] for text in texts] == [1, 0, 1, 1, 0, 0]


def test_includes_of_evals_keeps_letter_case_setting():
    sample = {"input": CHAT, "ideal": "Paris"}
    imports = [evals(given, "Includes", sample) for given in ("", "    ignore_case: true\n")]
    assert [[*values(imported, "in PARIS").values()] for imported in imports] == [[0], [1]]


def test_examples_of_evals_stand_before_the_question():
    shots = json.dumps({"sample": [{"role": "system", "name": "example_user", "content": "2+2"}]})
    given = "    num_few_shot: 1\n    few_shot_jsonl: own/few.jsonl\n"
    imported = evals(given, "Match", {"input": CHAT, "ideal": "x"}, few=f"{shots}\n{shots}")
    texts = [message.text for message in imported.template.cases[0].messages]
    assert texts == ["Be short.", "2+2", "Who?"]


def test_second_evaluation_and_unknown_arguments_are_told():
    more = "other.v0:\n  class: evals.elsuite.basic:Match\n  args: {samples_jsonl: other/samples.jsonl}\n"
    imported = evals("    seed: 1\n", "Match", {"input": CHAT, "ideal": "x", "note": "y"}, more=more)
    assert told(imported) == [("key_not_used", 5), ("evaluation_left_out", 7), ("field_not_used", 1)]


def test_chats_of_the_system_and_long_ones_are_taken():
    long = [{"role": ("user", "assistant")[number % 2], "content": str(number)} for number in range(21)]
    alone = [{"role": "system", "content": "Be short."}, {"role": "system", "content": "Who?"}]
    imported = evals("", "Match", {"input": long, "ideal": "x"}, {"input": alone, "ideal": "x"})
    assert [len(case.messages) for case in imported.template.cases] == [21, 2]
    assert [message.role for message in imported.template.cases[1].messages] == ["system", "user"]
    assert told(imported) == [("system_message_as_user", 2)]


PROMPTFOO = """prompts: ["Say {{word}}"]
assertionTemplates:
  short: {type: icontains, value: "{{word}}"}
tests:
  - vars: {word: hello}
    assert: [{$ref: "#/assertionTemplates/short"}, {$ref: "#/assertionTemplates/short", weight: 2}]
"""


def test_references_of_promptfoo_are_followed():
    imported = read_import(PROMPTFOO.encode(), Request("promptfooconfig.yaml"))
    assert not imported.is_refused
    assert [(check.scorer, check.weight) for check in imported.template.cases[0].checks] == [
        ("icontains", 1), ("icontains", 2),
    ]  # fmt: skip


@pytest.mark.parametrize("reference", ["#/assertionTemplates/long", "other.yaml#/a", "#/tests"])
def test_reference_without_its_part_is_refused(reference):
    content = PROMPTFOO.replace("#/assertionTemplates/short", reference)
    imported = read_import(content.encode(), Request("promptfooconfig.yaml"))
    assert imported.is_refused
    assert imported.entries[-1].code in ("reference_not_found", "alias_of_itself")
    assert imported.entries[-1].line == 6
