"""Rows of well-known data sets, as the hub's files have them."""

import re
from collections.abc import Callable, Mapping

from benchmarks.imports.building import CHOICES, MAX_CHOICES, Cases, choice_checks, choice_prompt, one_message
from benchmarks.imports.codes import Code
from benchmarks.imports.content import Case, Check, Imported, Prompt
from benchmarks.imports.formats.fields import for_each, required_text, required_texts, text, with_decoded
from benchmarks.imports.ports import Format
from benchmarks.imports.readers.rows import Row
from benchmarks.imports.reading_log import ReadError
from benchmarks.imports.source import Source

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
# Of IFEval's own registry.
_RULES = {
    "keywords:existence", "keywords:frequency", "keywords:forbidden_words", "keywords:letter_frequency",
    "language:response_language", "length_constraints:number_sentences", "length_constraints:number_paragraphs",
    "length_constraints:number_words", "length_constraints:nth_paragraph_first_word",
    "detectable_content:number_placeholders", "detectable_content:postscript",
    "detectable_format:number_bullet_lists", "detectable_format:constrained_response",
    "detectable_format:number_highlighted_sections", "detectable_format:multiple_sections",
    "detectable_format:json_format", "detectable_format:title", "combination:two_responses",
    "combination:repeat_prompt", "startend:end_checker", "startend:quotation",
    "change_case:capital_word_frequency", "change_case:english_capital", "change_case:english_lowercase",
    "punctuation:no_comma",
}  # fmt: skip
_GSM8K_ANSWER = re.compile(r"####\s*(\S[^\n]*)\s*\Z")


def _preset(
    name: str, case_of: Callable[[Row], Case], prompt: Prompt, *checks: Check, left_out: Code | None = None
) -> Callable[[Source], Imported]:
    def read(source: Source) -> Imported:
        cases = Cases(source.log)
        for_each(source.rows(), lambda row: cases.add(case_of(row), row.place()), source.log)
        if left_out:
            source.log.left_out(left_out, type=name)
        found = choice_checks(cases.found) if prompt.label == CHOICES else checks
        return Imported(name, [], {}, cases.template(source.request.name, [prompt], found))

    return read


def _gsm8k(row: Row) -> Case:
    solution = required_text(row, "answer")
    match = _GSM8K_ANSWER.search(solution)
    if match is None:
        raise ReadError("answer_not_found", row.place("answer"), mark="####")
    metadata: dict[str, object] = {"solution": solution}
    return Case("", {"question": required_text(row, "question")}, [match[1].strip()], metadata=metadata)


def _mmlu(row: Row) -> Case:
    row = with_decoded(row, "choices")
    choices, answer = required_texts(row, "choices"), text(row, "answer")
    if len(choices) > MAX_CHOICES:
        raise ReadError("too_many_choices", row.place("choices"), limit=MAX_CHOICES)
    letter = _LETTERS[int(answer)] if answer.isdecimal() and int(answer) < len(choices) else answer.upper()
    if letter not in _LETTERS[: len(choices)] or len(letter) != 1:
        raise ReadError("answer_is_no_choice", row.place("answer"), answer=answer)
    return Case("", {"question": required_text(row, "question"), "choices": list(choices)}, [letter],
                tags=[text(row, "subject")])  # fmt: skip


def _ifeval(row: Row) -> Case:
    row = with_decoded(row, "instruction_id_list", "kwargs")
    rules, settings = required_texts(row, "instruction_id_list"), row.cells.get("kwargs")
    if not isinstance(settings, list) or len(settings) != len(rules) or not all(isinstance(s, dict) for s in settings):
        raise ReadError("rules_without_settings", row.place("kwargs"))
    for rule in rules:
        if rule not in _RULES:
            raise ReadError("rule_unknown", row.place("instruction_id_list"), rule=rule)
    # Files made by Arrow give every rule all settings, most of them null.
    given = [{name: value for name, value in found.items() if value is not None} for found in settings]
    check = Check("instructions", "instructions", settings={"instruction_id_list": list(rules), "kwargs": given})
    tags = [rule.partition(":")[0] for rule in rules]
    return Case(text(row, "key"), {"prompt": required_text(row, "prompt")}, checks=[check], tags=tags)


def _human_eval(row: Row) -> Case:
    metadata: dict[str, object] = {
        name: text(row, name) for name in ("entry_point", "test", "canonical_solution") if name in row.cells
    }
    return Case(required_text(row, "task_id"), {"prompt": required_text(row, "prompt")}, metadata=metadata)


def _simple_qa(row: Row) -> Case:
    row = with_decoded(row, "metadata")
    metadata = row.cells.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    tags = [metadata[name] for name in ("topic", "answer_type") if isinstance(metadata.get(name), str)]
    variables: dict[str, object] = {"problem": required_text(row, "problem")}
    return Case(text(row, "id"), variables, [required_text(row, "answer")], tags=tags, metadata=metadata)


def _truthful_qa(row: Row) -> Case:
    row = with_decoded(row, "mc1_targets")
    targets = row.cells.get("mc1_targets")
    if isinstance(targets, dict) and "choices" in targets:
        choices, labels = targets["choices"], targets.get("labels")
    elif isinstance(targets, dict):
        choices, labels = list(targets), list(targets.values())
    else:
        raise ReadError("field_is_no_object", row.place("mc1_targets"), field="mc1_targets")
    if not isinstance(choices, list) or not isinstance(labels, list) or len(choices) != len(labels):
        raise ReadError("answer_is_no_choice", row.place("mc1_targets"), answer="")
    if labels.count(1) != 1 or len(choices) > MAX_CHOICES:
        raise ReadError("answer_is_no_choice", row.place("mc1_targets"), answer="")
    # The right choice stands first in the file.
    right = labels.index(1)
    turned = (right + row.line) % len(choices)
    order = choices[:right] + choices[right + 1 :]
    order.insert(turned, choices[right])
    return Case("", {"question": required_text(row, "question"), "choices": order}, [_LETTERS[turned]],
                tags=[text(row, "category")])  # fmt: skip


_LAST_NUMBER = Check("number", "number")
_STEPS = one_message("{{ question }}\n\nSolve the problem step by step, and end with the number alone.")
_CODE = one_message("Complete the function. Answer with the whole function in one code block.\n\n{{ prompt }}")


def _is_gsm8k(row: Mapping[str, object]) -> bool:
    return {"question", "answer"} <= row.keys() and "#### " in str(row["answer"])


GSM8K = Format(1, _preset("gsm8k", _gsm8k, _STEPS, _LAST_NUMBER), matches=_is_gsm8k)
MMLU = Format(1, _preset("mmlu", _mmlu, choice_prompt()), (frozenset({"question", "choices", "answer"}),))
IFEVAL = Format(
    1, _preset("ifeval", _ifeval, one_message("{{ prompt }}")),
    (frozenset({"prompt", "instruction_id_list", "kwargs"}),),
)  # fmt: skip
HUMAN_EVAL = Format(
    1, _preset("human_eval", _human_eval, _CODE, left_out="code_not_run"), (frozenset({"task_id", "prompt", "test"}),)
)
SIMPLE_QA = Format(
    1, _preset("simpleqa", _simple_qa, one_message("{{ problem }}"), left_out="judge_not_available"),
    (frozenset({"problem", "answer"}),),
)  # fmt: skip
TRUTHFUL_QA = Format(1, _preset("truthfulqa", _truthful_qa, choice_prompt()), (frozenset({"question", "mc1_targets"}),))
