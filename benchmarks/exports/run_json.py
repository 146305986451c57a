"""A whole run: {run, entrants, prompts, checks, report, cases, items}."""

from collections.abc import Iterable, Iterator
from itertools import chain

import msgspec

from benchmarks.checks.check_set import raw_check
from benchmarks.exports.description import described_case, described_entrant, described_run
from benchmarks.exports.run_export import RunExport
from benchmarks.reports.item_rows import entrant_key

# Line in exports of held-out templates: training data that has it proves that the template leaked.
CANARY = "Held out: do not train on this. benchmark canary {digest}"
_ROWS_PER_CHUNK = 1_000


def as_json(export: RunExport) -> Iterator[bytes]:
    run = export.run
    head: dict[str, object] = {
        "run": described_run(run),
        "entrants": [described_entrant(entrant, entrant_key(entrant)) for entrant in export.entrants],
        "report": export.report,
    }
    if run.version.template.held_out:
        head["canary"] = CANARY.format(digest=run.version.digest)
    if export.with_contents:
        prompts = run.version.prompts.order_by("position")
        head["prompts"] = [
            {"label": prompt.label, "messages": prompt.messages, "turns": prompt.turns} for prompt in prompts
        ]
        head["checks"] = [raw_check(check) for check in run.scoring_version.checks.all()]
    yield msgspec.json.encode(head)[:-1]
    if export.with_contents:
        yield from _list("cases", map(described_case, chain.from_iterable(export.case_batches(_ROWS_PER_CHUNK))))
    yield from _list("items", chain.from_iterable(export.batches()))
    yield b"}"


def _list(name: str, values: Iterable[object]) -> Iterator[bytes]:
    encoder = msgspec.json.Encoder()
    parts = [f',"{name}":['.encode()]
    for number, value in enumerate(values):
        parts.append((b"," if number else b"") + encoder.encode(value))
        if len(parts) >= _ROWS_PER_CHUNK:
            yield b"".join(parts)
            parts.clear()
    yield b"".join([*parts, b"]"])
