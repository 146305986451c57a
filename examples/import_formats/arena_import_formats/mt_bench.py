"""MT-Bench: questions of two turns, and answers that models gave to them."""

from benchmarks.imports.building import Cases
from benchmarks.imports.content import Case, Imported, Message, Prompt, Reply
from benchmarks.imports.formats.fields import for_each, required_text, required_texts, text, texts
from benchmarks.imports.limits import MAX_TURNS
from benchmarks.imports.ports import Format
from benchmarks.imports.readers.rows import Row
from benchmarks.imports.reading_log import ReadError
from benchmarks.imports.source import Source

# The temperatures of the benchmark's authors, by category (FastChat, llm_judge/common.py).
TEMPERATURES = {
    "writing": 0.7, "roleplay": 0.7, "extraction": 0.0, "math": 0.0, "coding": 0.0, "reasoning": 0.0,
    "stem": 0.1, "humanities": 0.1, "arena-hard-200": 0.0,
}  # fmt: skip


def read_questions(source: Source) -> Imported:
    """Return a template of as many turns as all questions have; references are expected, one a turn."""
    log, cases = source.log, Cases(source.log)
    turns: list[int] = []

    def add(row: Row) -> None:
        questions = required_texts(row, "turns")
        turns.append(len(questions))
        if not 0 < turns[-1] <= MAX_TURNS + 1:
            raise ReadError("too_many_turns", row.place("turns"), limit=MAX_TURNS + 1, found=turns[-1])
        if turns[-1] != turns[0]:
            raise ReadError("turns_differ", row.place("turns"), expected=turns[0], found=turns[-1])
        category = text(row, "category")
        metadata: dict[str, object] = {}
        if category in TEMPERATURES:
            metadata["temperature"] = TEMPERATURES[category]
        reference = list[object](texts(row, "reference"))
        key = required_text(row, "question_id")
        cases.add(Case(key, {"turns": list(questions)}, reference, tags=[category], metadata=metadata), row.place())

    for_each(source.rows(), add, log)
    follow_ups = [f"{{{{ turns[{number}] }}}}" for number in range(1, max(turns, default=1))]
    prompt = Prompt("questions", [Message("user", "{{ turns[0] }}")], follow_ups)
    template = cases.template(source.request.name, [prompt])
    if any("temperature" in case.metadata for case in cases.found):
        log.changed("temperature_as_metadata")
    log.left_out("judge_not_available", type="single-v1")
    return Imported("mt_bench", [], {}, template)


def read_answers(source: Source) -> Imported:
    """Return replies only: their questions are another file."""
    cases = Cases(source.log)

    def add(row: Row) -> None:
        model, key = required_text(row, "model_id"), required_text(row, "question_id")
        choices = row.cells.get("choices")
        if not isinstance(choices, list) or not choices:
            raise ReadError("field_missing", row.place(), field="choices")
        for repeat, choice in enumerate(choices):
            answers = choice.get("turns") if isinstance(choice, dict) else None
            if not isinstance(answers, list) or not all(isinstance(answer, str) for answer in answers):
                raise ReadError("field_is_no_list_of_texts", row.place(), field="choices.turns")
            for turn, answer in enumerate(answers):
                _add_reply(cases, Reply(model, key, answer, turn, repeat), row)

    for_each(source.rows(), add, source.log)
    return Imported("mt_bench_answers", [], {}, replies=cases.replies)


def _add_reply(cases: Cases, reply: Reply, row: Row) -> None:
    if reply.text == "$ERROR$":
        raise ReadError("answer_is_an_error", row.place(), key=reply.case_key)
    cases.reply(reply, row.place())


QUESTIONS = Format(1, read_questions, (frozenset({"question_id", "turns"}),), answers="mt_bench_answers")
ANSWERS = Format(1, read_answers, (frozenset({"question_id", "model_id", "choices"}),))
