"""AlpacaEval: instructions, and a model's outputs for them."""

from benchmarks.imports.building import Cases, one_message
from benchmarks.imports.content import Case, Imported, Reply
from benchmarks.imports.formats.fields import for_each, required_text, text
from benchmarks.imports.ports import Format
from benchmarks.imports.readers.rows import Row
from benchmarks.imports.source import Source


def read(source: Source) -> Imported:
    """Return cases in the file's order; `generator` names the model of `output`, or "reference"."""
    cases = Cases(source.log)

    def add(row: Row) -> None:
        instruction = required_text(row, "instruction")
        if context := text(row, "input"):
            instruction = f"{instruction}\n\n{context}"
        case = Case(text(row, "id"), {"instruction": instruction}, tags=[text(row, "dataset")])
        cases.add(case, row.place())
        if output := text(row, "output"):
            generator = text(row, "generator") or "reference"
            cases.reply(Reply(generator, case.key, output), row.place())

    for_each(source.rows(), add, source.log)
    template = cases.template(source.request.name, [one_message("{{ instruction }}")])
    source.log.left_out("judge_not_available", type="pairwise")
    return Imported("alpaca_eval", [], {}, template, cases.replies)


ALPACA_EVAL = Format(1, read, (frozenset({"instruction", "output"}), frozenset({"instruction", "dataset"})))
