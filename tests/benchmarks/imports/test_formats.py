"""Every format's sample becomes the same kind of content."""

from pathlib import Path

import minijinja
import pytest

from benchmarks.imports.content import Check, Imported, ProposedModel, Reply, Request
from benchmarks.imports.ports import installed_names
from benchmarks.imports.reading import FORMATS, read_import
from tests.benchmarks.imports import files

# file: (format, keys of cases, number of replies, what was left out or changed)
SAMPLES = {
    "promptfoo.json": ("promptfoo", ["1", "2"], 0, ["check_not_supported"]),
    "promptfoo_folder": ("promptfoo", ["1", "2", "3"], 0, []),
    "promptfoo_columns.csv": ("table", ["air", "snow", "cats"], 2, ["code_not_run"]),
    "semicolons.csv": ("table", ["1", "2"], 0, ["column_renamed"]),
    "table.tsv": ("table", ["t1", "t2"], 0, ["comparison_assumed"]),
    "inspect.jsonl": ("inspect", ["a", "b"], 0, ["comparison_assumed"]),
    "inspect_choices.csv": ("inspect", ["f1", "f2"], 0, []),
    "openai_evals.jsonl": ("openai_evals", ["1", "2"], 0, ["comparison_assumed"]),
    "openai_evals": ("openai_evals", ["1", "2"], 0, []),
    "lm_eval": (
        "lm_eval", ["1", "2"], 0,
        ["filter_not_supported", "check_not_supported", "first_check_counts", "parameter_not_used"],
    ),
    "lm_eval_choice": ("lm_eval", ["1", "2"], 0, ["not_the_likelihood_score"]),
    "mt_bench.jsonl": ("mt_bench", ["1", "2"], 0, ["temperature_as_metadata", "judge_not_available"]),
    "mt_bench_answers.jsonl": ("mt_bench_answers", [], 4, []),
    "arena_hard.jsonl": ("arena_hard", ["u1", "u2"], 0, ["judge_not_available"]),
    "arena_hard_old.jsonl": ("arena_hard", ["q9"], 0, ["judge_not_available"]),
    "arena_hard_answers.jsonl": ("arena_hard_answers", [], 1, []),
    "alpaca_eval.json": ("alpaca_eval", ["1", "2"], 2, ["judge_not_available"]),
    "gsm8k.jsonl": ("gsm8k", ["1", "2"], 0, []),
    "mmlu.jsonl": ("mmlu", ["1", "2"], 0, []),
    "ifeval.jsonl": ("ifeval", ["7"], 0, []),
    "human_eval.jsonl": ("human_eval", ["Own/0"], 0, ["code_not_run"]),
    "simple_qa.csv": ("simple_qa", ["1"], 0, ["judge_not_available"]),
    "truthful_qa.jsonl": ("truthful_qa", ["1"], 0, []),
    "langfuse.jsonl": ("traces", ["i1", "i2"], 0, ["comparison_assumed"]),
    "braintrust.json": ("traces", ["1"], 0, ["comparison_assumed"]),
    "deepeval.json": ("traces", ["1"], 1, ["comparison_assumed"]),
    "ragas.jsonl": ("traces", ["1"], 1, ["comparison_assumed"]),
    "phoenix.csv": ("traces", ["1"], 1, ["field_not_used", "comparison_assumed"]),
}  # fmt: skip
# file: the first prompt with the variables of the first case
PROMPTS = {
    "promptfoo_folder": "Explain rain.",
    "promptfoo_columns.csv": "Short: Which gas, mostly, is air?",
    "semicolons.csv": "Was ist 2+2?",
    "table.tsv": "Is ice cold?",
    "inspect_choices.csv": 'Which is a fruit?\n\nA) stone\nB) pear\n\nEnd with a line of the form "Answer: X", '
    "where X is the letter of the right choice.",
    "lm_eval": "Solve the sum.|Q: 1 + 1, as {{digits}}\nA:|2|Q: 3 + 4\nA:",
    "mt_bench.jsonl": "Write two lines about rain.",
    "deepeval.json": "The shop opens at nine.\n\nThe quay is open.\n\nWhat opens at nine?",
    "langfuse.jsonl": "Where is the quay?",
}
EXPECTED = {
    "table.tsv": [["yes"], ["no"]],
    "inspect.jsonl": [["drawer"], ["box", "the box"]],
    "openai_evals.jsonl": [["1901"], ["2", "two"]],
    "lm_eval": [["7"], ["11"]],
    "lm_eval_choice": [["B"], ["A"]],
    "mt_bench.jsonl": [[], ["144", "72"]],
    "gsm8k.jsonl": [["12"], ["3,000"]],
    "mmlu.jsonl": [["C"], ["A"]],
    "truthful_qa.jsonl": [["B"]],
    "simple_qa.csv": [["Nine"]],
    "langfuse.jsonl": [["north"], ["south"]],
}


def keys(imported: Imported) -> list[str]:
    return [case.key for case in imported.template.cases] if imported.template else []


@pytest.mark.parametrize("name", SAMPLES)
def test_sample_is_found_out_and_read(name: str):
    imported = files.read_sample(name)
    others = [entry.code for entry in imported.entries if entry.action != "taken"]
    assert (imported.format, keys(imported), len(imported.replies), others) == SAMPLES[name]
    assert not imported.is_refused


@pytest.mark.parametrize("name", EXPECTED)
def test_expected_answers_are_taken(name: str):
    assert [case.expected for case in files.read_sample(name).template.cases] == EXPECTED[name]


@pytest.mark.parametrize("name", PROMPTS)
def test_prompt_renders_with_the_case(name: str):
    template = files.read_sample(name).template
    environment = minijinja.Environment()
    environment.undefined_behavior = "strict"
    messages = [environment.render_str(m.text, **template.cases[0].variables) for m in template.prompts[0].messages]
    assert "|".join(messages) == PROMPTS[name]


def test_samples_cover_every_format():
    names = {*FORMATS, *installed_names()}
    assert names - {format_name for format_name, *_ in SAMPLES.values()} == {
        "arena",
        "arena_hard_judgements",
    }  # test_template_exports


def test_importers_that_do_not_load_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "broken.py").write_text("raise RuntimeError('no luck')\n")
    (tmp_path / "other.py").write_text("FORMAT = 'none'\n")
    information = tmp_path / "broken-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Name: broken\nVersion: 1.0\n")
    lines = ["[arena.importers]", "broken = broken:FORMAT", "other = other:FORMAT", "table = other:FORMAT"]
    (information / "entry_points.txt").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(tmp_path)
    imported = files.read_sample("semicolons.csv")
    failed = {
        entry.values["name"]: entry.values["error"] for entry in imported.entries if entry.code == "importer_failed"
    }
    assert failed == {
        "broken": "RuntimeError: no luck", "other": "no Format of version 1", "table": "no Format of version 1",
    }  # fmt: skip
    assert (imported.format, keys(imported)) == ("table", ["1", "2"])


def test_chat_and_files_of_inspect_are_kept():
    template = files.read_sample("inspect.jsonl").template
    first, second = template.cases
    assert [(file.name, template.files[file.digest]) for file in first.files] == [("note.txt", b"hello")]
    assert [(message.role, message.text) for message in second.messages] == [
        ("system", "Answer briefly."), ("user", "Where is the key now?"),
    ]  # fmt: skip


def test_task_of_lm_eval_keeps_its_filters():
    imported = files.read_sample("lm_eval")
    settings = {"ignore_case": True, "ignore_patterns": [","]}
    steps = [("answer is (\\d+)", "first"), ("(\\d+)", "last")]
    assert imported.template.checks == [
        Check(
            f"exact_match-{name}", "equals", settings=settings,
            extract=[{"step": "regex", "pattern": pattern, "group": 1, "which": which}],
            metric=f"exact_match-{name}", weight=weight,
        )
        for name, weight, (pattern, which) in zip(["strict", "flexible"], [1, 0], steps, strict=True)
    ]  # fmt: skip
    assert imported.template.parameters == {"stop": ["\n\n"], "temperature": 0.0, "max_tokens": 64}
    assert imported.repeats == 2


def test_choices_are_checked_by_their_number():
    rows = b'{"question": "a", "choices": ["b", "c"], "answer": 1}\n'
    choice = Check("choice", "choice", settings={"choices": 2})
    template = read_import(rows * 2, Request("own.jsonl")).template
    assert (template.checks, template.cases[0].checks) == ([choice], [])
    rows += b'{"question": "a", "choices": ["b", "c", "d"], "answer": 2}\n'
    template = read_import(rows, Request("own.jsonl")).template
    assert (template.checks, [case.checks[0].settings for case in template.cases]) == (
        [],
        [{"choices": 2}, {"choices": 3}],
    )


def test_follow_ups_and_replies_have_their_turns():
    assert files.read_sample("mt_bench.jsonl").template.prompts[0].turns == ["{{ turns[1] }}"]
    assert files.read_sample("mt_bench_answers.jsonl").replies[:2] == [
        Reply("old-model", "1", "Rain falls.", 0), Reply("old-model", "1", "Drops fell.", 1),
    ]  # fmt: skip


def test_mapping_gives_columns_their_roles():
    content = b"nr,ask,best,from,m1,m2\n7,Why?,so,web,because,dunno\n8,How?,thus,web,,somehow\n"
    roles = {"nr": "key", "ask": "prompt", "best": "expected", "from": "cluster", "m1": "reply:One", "m2": "reply:Two"}
    imported = read_import(content, Request("own.csv", mapping=roles))
    assert [(case.key, case.variables, case.expected, case.cluster) for case in imported.template.cases] == [
        ("7", {"ask": "Why?"}, ["so"], "web"), ("8", {"ask": "How?"}, ["thus"], "web"),
    ]  # fmt: skip
    assert [(reply.entrant, reply.case_key) for reply in imported.replies] == [("One", "7"), ("Two", "7"), ("Two", "8")]


def test_workbook_gives_values_of_a_chosen_sheet():
    content = files.workbook([["id", "question", "expected"], [1, "What is 3 + 4?", "=3+4"], [2.5, "Is it?", True]])
    template = read_import(content, Request("own.xlsx", sheet="Cases")).template
    assert [(case.key, case.expected) for case in template.cases] == [("1", ["7"]), ("2.5", ["true"])]
    assert read_import(content, Request("own.xlsx", sheet="None")).entries[0].code == "no_such_sheet"


def test_parquet_of_a_preset_is_read():
    content = files.parquet({"question": ["How many?", "And now?"], "answer": ["One.\n#### 1", "Two.\n#### 2"]})
    imported = read_import(content, Request("train-00000.parquet"))
    assert (imported.format, keys(imported)) == ("gsm8k", ["1", "2"])


def test_same_check_of_all_rows_moves_to_the_template():
    imported = read_import(b"q,__expected\na,contains: x\nb,contains: y\n", Request("own.csv"))
    assert imported.template.checks == [Check("contains", "contains")]
    assert [(case.expected, case.checks) for case in imported.template.cases] == [(["x"], []), (["y"], [])]


def test_proposed_models_and_run_defaults_are_kept():
    imported = files.read_sample("promptfoo.yaml")
    assert imported.models == [
        ProposedModel("gpt-small", "openai:chat:gpt-small"),
        ProposedModel("tiny", "Tiny", {"temperature": 0, "max_tokens": 20}),
    ]
    assert (imported.repeats, imported.concurrency) == (3, 8)


def test_schema_describes_all_variables():
    content = b'{"question": "a", "n": 1}\n{"question": "b", "n": 1.5, "more": [1]}\n'
    assert read_import(content, Request("own.jsonl")).template.variables == {
        "type": "object",
        "properties": {"question": {"type": "string"}, "n": {"type": "number"}, "more": {"type": "array"}},
        "required": ["question", "n"],
        "additionalProperties": False,
    }


def test_answers_beside_questions_are_replies():
    questions, answers = files.sample("mt_bench.jsonl")[0], files.sample("mt_bench_answers.jsonl")[0]
    answers = answers.replace(b'"question_id": 2', b'"question_id": 9')
    content = files.archive({"question.jsonl": questions, "model_answer/old.jsonl": answers})
    imported = read_import(content, Request("own.zip"))
    assert [reply.case_key for reply in imported.replies] == ["1", "1"]
    left_out = [entry.values["key"] for entry in imported.entries if entry.code == "reply_without_case"]
    assert left_out == ["9", "9"]
