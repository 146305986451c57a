"""Arena-Hard: questions with clusters, and answers that models gave to them."""

from benchmarks.imports.building import Cases, one_message
from benchmarks.imports.content import Case, Imported, Reply
from benchmarks.imports.formats.fields import for_each, required_text, text
from benchmarks.imports.ports import Format
from benchmarks.imports.readers.rows import Row
from benchmarks.imports.reading_log import ReadError
from benchmarks.imports.source import Source


def read_questions(source: Source) -> Imported:
    cases = Cases(source.log)

    def add(row: Row) -> None:
        tags = [text(row, name) for name in ("category", "subcategory")]
        cluster = text(row, "cluster")
        key = required_text(row, "question_id" if "question_id" in row.cells else "uid")
        case = Case(key, {"prompt": _prompt(row)}, cluster=cluster, tags=[*tags, cluster])
        cases.add(case, row.place())

    for_each(source.rows(), add, source.log)
    source.log.left_out("judge_not_available", type="pairwise")
    return Imported("arena_hard", [], {}, cases.template(source.request.name, [one_message("{{ prompt }}")]))


def _prompt(row: Row) -> str:
    """Return the question; version 0.1 has it as the first of `turns`."""
    turns = row.cells.get("turns")
    if "prompt" in row.cells or not isinstance(turns, list):
        return required_text(row, "prompt")
    content = turns[0].get("content") if len(turns) == 1 and isinstance(turns[0], dict) else None
    if not isinstance(content, str):
        raise ReadError("messages_not_understood", row.place())
    return content


def read_answers(source: Source) -> Imported:
    """Return replies only: the last message is the answer."""
    cases = Cases(source.log)

    def add(row: Row) -> None:
        messages = row.cells.get("messages")
        last = messages[-1] if isinstance(messages, list) and messages else None
        content = last.get("content") if isinstance(last, dict) and last.get("role") == "assistant" else None
        if isinstance(content, dict):
            content = content.get("answer")
        if not isinstance(content, str):
            raise ReadError("messages_not_understood", row.place())
        cases.reply(Reply(required_text(row, "model"), required_text(row, "uid"), content), row.place())

    for_each(source.rows(), add, source.log)
    return Imported("arena_hard_answers", [], {}, replies=cases.replies)


def refuse_judgements(source: Source) -> Imported:
    raise ReadError("judge_not_available", type="model_judgment")


QUESTIONS = Format(
    1, read_questions, (frozenset({"question_id", "cluster", "turns"}), frozenset({"uid", "prompt"})),
    answers="arena_hard_answers",
)  # fmt: skip
ANSWERS = Format(1, read_answers, (frozenset({"uid", "model", "messages"}),))
JUDGEMENTS = Format(1, refuse_judgements, (frozenset({"uid", "games"}),))
