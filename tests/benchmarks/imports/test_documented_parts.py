"""Parts of files that docs/benchmarks-import.md names, beside those of the samples."""

import base64
import gzip
import json

import pytest

from benchmarks.imports.content import Check, Request
from benchmarks.imports.limits import MAX_CASE_FILE_BYTES, MAX_DOCUMENT_BYTES
from benchmarks.imports.reading import read_import
from tests.benchmarks.imports import files
from tests.benchmarks.imports.test_tools_are_scored_alike import CHAT, evals, lm_eval, told, values

# file: (variables, tags, cluster, metadata, replies) of the first case
FIRST_CASES = {
    "alpaca_eval.json": (
        {"instruction": "Name three knots."}, ["own"], "", {}, [("old-model", "Bowline, reef, clove hitch.")],
    ),
    "arena_hard.jsonl": (
        {"prompt": "Explain how a hash table grows."}, ["hard_prompt", "coding"], "", {}, [],
    ),
    "langfuse.jsonl": (
        {"question": "Where is the quay?", "lang": "en", "input": "Where is the quay?"}, [], "", {"from": "own"}, [],
    ),
    "braintrust.json": ({"input": "Is the tide in?"}, ["sea"], "", {}, []),
    "ragas.jsonl": (
        {"input": "What closes at six?", "context": ["The shop closes at six."]}, [], "", {},
        [("imported", "The shop")],
    ),
    "ifeval.jsonl": (
        {"prompt": "Write about tea without a comma."}, ["punctuation", "length_constraints"], "", {}, [],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FIRST_CASES)
def test_documented_fields_of_a_case_are_taken(name: str):
    imported = files.read_sample(name)
    case = imported.template.cases[0]
    replies = [(reply.entrant, reply.text) for reply in imported.replies if reply.case_key == case.key]
    assert (case.variables, case.tags, case.cluster, case.metadata, replies) == FIRST_CASES[name]


def test_tests_of_human_eval_are_metadata():
    imported = files.read_sample("human_eval.jsonl")
    assert imported.template.cases[0].metadata.keys() == {"entry_point", "test", "canonical_solution"}
    assert imported.template.checks == []


def test_clusters_of_arena_hard_are_kept():
    case = read_import(
        b'{"question_id": "q", "cluster": "Sums", "turns": [{"content": "1 + 1?"}]}\n', Request("question.jsonl")
    ).template.cases[0]
    assert (case.key, case.variables, case.cluster) == ("q", {"prompt": "1 + 1?"}, "Sums")


def test_json_match_and_tokens_of_evals_are_kept():
    imported = evals("    max_tokens: 40\n", "JsonMatch", {"input": CHAT, "ideal": '{"a": 1}'})
    assert imported.template.parameters == {"max_tokens": 40}
    assert [[*values(imported, text).values()] for text in ('{"a": 1.0}', '{"a": 2}')] == [[1], [0]]


SUM = 'task: own\ndoc_to_text: "{{q}}"\ndoc_to_target: "{{a}}"\n'


def test_metrics_of_overlap_are_checks():
    imported = lm_eval(
        f"{SUM}metric_list: [{{metric: bleu}}, {{metric: chrf}}, {{metric: ter}}]\n", {"q": "", "a": "b"}
    )
    assert [check.scorer for check in imported.template.checks] == ["bleu", "chrf", "ter"]


def test_whitespace_filter_is_kept_by_every_comparison():
    steps = "filter_list: [{name: trim, filter: [{function: remove_whitespace}, {function: take_first}]}]\n"
    imported = lm_eval(SUM + steps, {"q": "", "a": "7"})
    assert (values(imported, " 7\n"), told(imported)) == ({"exact_match-trim": 1}, [])


def test_four_of_the_given_examples_are_asked():
    samples = ", ".join(f"{{q: q{number}, a: a{number}}}" for number in range(6))
    imported = lm_eval(f"{SUM}fewshot_config: {{samples: [{samples}]}}\n", {"q": "x", "a": "y"})
    roles = [message.role for message in imported.template.prompts[0].messages]
    assert (roles, told(imported)) == (["user", "assistant"] * 4 + ["user"], [("fewer_examples", 4)])


def test_included_task_is_read():
    content = files.archive({
        "task.yaml": b"include: base.yaml\ntask: own\ndoc_to_target: '{{b}}'\n",
        "base.yaml": SUM.encode(), "docs.jsonl": b'{"q": "x", "a": "y", "b": "z"}\n',
    })  # fmt: skip
    assert read_import(content, Request("task.zip")).template.cases[0].expected == ["z"]


def test_picture_of_a_chat_goes_beside_and_is_told():
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,{{image}}"}}
    chat = [{"role": "user", "content": [{"type": "text", "text": "What is it?"}, picture]}]
    document = {"prompts": [{"raw": json.dumps(chat)}], "tests": [{"vars": {"image": "x"}}]}
    imported = read_import(json.dumps(document).encode(), Request("own.json"))
    assert imported.template.prompts[0].messages[0].text == "What is it?"
    assert "picture_beside_prompt" in [entry.code for entry in imported.entries if entry.action == "changed"]


def test_rough_rouge_is_told_as_changed():
    document = {"prompts": ["{{ x }}"], "tests": [{"vars": {"x": 1}, "assert": [{"type": "rouge-n", "value": "a"}]}]}
    imported = read_import(json.dumps(document).encode(), Request("own.json"))
    assert [entry.code for entry in imported.entries if entry.action == "changed"] == ["rouge_n_as_rouge_l"]


def test_words_of_older_yaml_are_texts():
    imported = read_import(b"prompts: ['{{ x }}']\ntests: [{vars: {x: yes}}, {vars: {x: on}}]\n", Request("own.yaml"))
    assert [case.variables for case in imported.template.cases] == [{"x": "yes"}, {"x": "on"}]


def test_lines_of_parquet_are_rows():
    content = files.parquet({"question": ["a", "b", "c"], "answer": ["#### 1", "none", "#### 3"]})
    [refused] = read_import(content, Request("gsm8k.parquet")).entries
    assert (refused.code, refused.line) == ("answer_not_found", 2)


def test_small_file_may_grow_more_than_200_times():
    table = b"question,note\nWhy?," + b"a" * 150_000 + b"\n"
    packed = gzip.compress(table)
    assert len(table) > 200 * len(packed)
    assert read_import(packed, Request("own.csv.gz")).template.cases[0].variables["question"] == "Why?"


def picture(size: int) -> dict[str, str]:
    """Return a part of a message with a picture of at least this size."""
    content = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(size)).decode()
    return {"type": "image", "image": f"data:image/png;base64,{content}"}


def chat(*contents: object) -> bytes:
    """Return a record of inspect-ai."""
    return json.dumps({"input": [{"role": "user", "content": one} for one in contents], "target": "a"}).encode()


def locked_archive() -> bytes:
    content = bytearray(files.archive({"own.csv": b"q,a\nx,y\n"}))
    content[6] |= 1
    content[content.index(b"PK\x01\x02") + 8] |= 1
    return bytes(content)


TEXT = {"type": "text", "text": "see"}
SEVEN = [TEXT, *(picture(40 + number) for number in range(7))]
BAD = {
    "seven files": ("own.jsonl", lambda: chat(SEVEN), ("too_many_case_files", 1)),
    "file of 20 MB": ("own.jsonl", lambda: chat([TEXT, picture(MAX_CASE_FILE_BYTES)]), ("case_file_too_large", 1)),
    "picture before the last message": (
        "own.jsonl", lambda: chat([TEXT, picture(40)], "and?"), ("files_in_earlier_message", 1),
    ),
    "document over 4 MB": ("own.yaml", lambda: b"a: " + b"x" * MAX_DOCUMENT_BYTES, ("document_too_large", 0)),
    "archive with a password": ("own.zip", locked_archive, ("encrypted", 0)),
}  # fmt: skip


def test_file_of_a_record_is_longer_than_a_text():
    image = picture(1_000_000)
    template = read_import(chat([TEXT, image]), Request("own.jsonl")).template
    assert [len(content) for content in template.files.values()] == [1_000_008]
    for field in ("question", "answer", "metadata"):
        row = {"id": "a", "question": "b", "answer": "c", field: image["image"]}
        imported = read_import(json.dumps(row).encode(), Request("own.jsonl"))
        assert [entry.code for entry in imported.entries if entry.action == "refused"] == ["text_too_long"]


@pytest.mark.parametrize("sentence", BAD)
def test_file_beyond_a_limit_is_refused(sentence: str):
    name, make_content, expected = BAD[sentence]
    first = next(entry for entry in read_import(make_content(), Request(name)).entries if entry.action == "refused")
    assert (first.code, first.line) == expected


def test_unknown_format_is_refused():
    imported = read_import(b"a: 1\n", Request("own.yaml"))
    assert [entry.code for entry in imported.entries] == ["format_unknown"]
    assert read_import(b"q\nx\n", Request("own.csv", format="nothing")).entries[0].code == "format_unknown"


def test_each_choice_of_a_column_is_a_check():
    template = read_import(b"q,__expected,__metric,__threshold\na,equals: x,form,0.5\n", Request("own.csv")).template
    assert template.checks == [Check("equals", "equals", metric="form")]
    assert (template.cases[0].expected, template.cases[0].threshold) == (["x"], 0.5)


def test_unread_files_and_options_are_listed():
    table = b"question,answer\nx,y\n"
    imported = read_import(files.archive({"a.csv": table, "b.csv": table, "read.txt": b"me"}), Request("own.zip"))
    assert [(entry.code, entry.file) for entry in imported.entries if entry.action == "left_out"] == [
        ("file_not_used", "b.csv"), ("file_not_used", "read.txt"),
    ]  # fmt: skip
    options = b"prompts: [a]\ntests: [{vars: {x: 1}}]\nevaluateOptions: {repeat: 2, cache: false}\n"
    entries = read_import(options, Request("own.yaml")).entries
    assert [entry.values for entry in entries if entry.action == "left_out"] == [{"key": "evaluateOptions.cache"}]
