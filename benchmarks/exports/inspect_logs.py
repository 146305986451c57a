"""Logs of inspect-ai (EvalLog, version 2): one JSON document an entrant, a zip of several."""

import zipfile
from collections.abc import Iterator
from itertools import groupby, islice
from typing import IO, cast

import msgspec

from benchmarks.exports.inspect_samples import model_of, read_samples
from benchmarks.exports.run_export import RunExport
from benchmarks.exports.run_json import CANARY
from benchmarks.models import Entrant, Run
from benchmarks.reports.item_rows import entrant_key, item_rows
from benchmarks.statistics.headers import SCORE
from benchmarks.statistics.rows import ItemRow
from common.payload_types import JsonObject

_SAMPLES_AT_ONCE = 500
_STATUS = {Run.State.DONE: "success", Run.State.CANCELLED: "cancelled", Run.State.FAILED: "error"}
_PARAMETERS = {
    "temperature": "temperature", "top_p": "top_p", "seed": "seed", "max_tokens": "max_tokens", "stop": "stop_seqs",
}  # fmt: skip


def as_inspect(export: RunExport) -> Iterator[bytes]:
    logs = _logs(export)
    if len(export.entrants) == 1:
        return next(logs)[1]
    return _zipped(logs)


def _logs(export: RunExport) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield names and chunks of logs; each is read before the next."""
    entrants = {entrant_key(entrant): entrant for entrant in export.entrants}
    rows = item_rows(export.run, with_texts=export.with_contents)
    for key, entrant_rows in groupby(rows, key=lambda row: row.entrant):
        yield f"{key}.json", _log(export, entrants[key], entrant_rows)


def _log(export: RunExport, entrant: Entrant, rows: Iterator[ItemRow]) -> Iterator[bytes]:
    yield msgspec.json.encode(_head(export, entrant))[:-1] + b',"samples":['
    encoder, separator = msgspec.json.Encoder(), b""
    while batch := list(islice(rows, _SAMPLES_AT_ONCE)):
        for sample in read_samples(export, entrant, batch):
            yield separator + encoder.encode(sample)
            separator = b","
    yield b"]}"


def _head(export: RunExport, entrant: Entrant) -> JsonObject:
    run, key = export.run, entrant_key(entrant)
    version, started = run.version, run.started_at or run.created_at
    metadata: JsonObject = {
        "entrant": key,
        "label": entrant.label,
        "prompt": entrant.prompt.position + 1,
        "run": run.name,
    }
    if entrant.left_out_at is not None:
        metadata["left_out_at"] = entrant.left_out_at
    if version.template.held_out:
        metadata["canary"] = CANARY.format(digest=version.digest)
    times = {"started_at": started, "completed_at": run.finished_at} if run.finished_at else {"started_at": started}
    return {
        "version": 2,
        "status": _STATUS.get(Run.State(run.state), "started"),
        "eval": {
            "eval_id": f"{run.public_id}-{key}", "run_id": run.public_id, "created": run.created_at,
            "task": version.template.name, "task_id": version.template.public_id, "task_version": version.number,
            "dataset": {"name": version.template.name, "samples": version.case_count, "shuffled": True},
            "model": model_of(entrant),
            "model_generate_config": _generate_config(version.parameters | entrant.parameters),
            "config": {"epochs": run.repeats, "epochs_reducer": ["mean"], "retry_on_error": run.attempts - 1},
            "metadata": metadata,
        },
        # inspect-ai's reader of log headers requires a plan.
        "plan": {"name": "plan", "steps": [{"solver": "generate", "params": {}}]},
        "results": _results(export, key),
        "stats": times,
    }  # fmt: skip


def _generate_config(parameters: JsonObject) -> JsonObject:
    config = {name: parameters[own] for own, name in _PARAMETERS.items() if parameters.get(own) is not None}
    if isinstance(stop := config.get("stop_seqs"), str):
        config["stop_seqs"] = [stop]
    return config


def _results(export: RunExport, key: str) -> JsonObject:
    means = [(metric.metric, mean) for metric in export.report.metrics for mean in metric.means if mean.entrant == key]
    scores: list[JsonObject] = []
    for name, mean in means:
        numbers = {"mean": mean.mean.value, "stderr": mean.se, "low": mean.mean.low, "high": mean.mean.high}
        scores.append({
            "name": name, "scorer": name, "reducer": "mean", "scored_samples": mean.scored,
            "unscored_samples": mean.missing + mean.unscored,
            "metrics": {key: {"name": key, "value": value} for key, value in numbers.items() if value is not None},
        })  # fmt: skip
    planned, done = next(((mean.planned, mean.scored) for name, mean in means if name == SCORE), (0, 0))
    return {"total_samples": planned, "completed_samples": done, "scores": scores}


def _zipped(logs: Iterator[tuple[str, Iterator[bytes]]]) -> Iterator[bytes]:
    """Yield a zip; in memory is one chunk."""
    out = _Chunks()
    with zipfile.ZipFile(cast(IO[bytes], out), "w", zipfile.ZIP_DEFLATED) as archive:
        for name, chunks in logs:
            with archive.open(name, "w", force_zip64=True) as member:
                for chunk in chunks:
                    member.write(chunk)
                    yield out.taken()
    yield out.taken()


class _Chunks:
    """File to write to, without a position, which zipfile allows."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._parts.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Do nothing: `taken` empties it."""

    def taken(self) -> bytes:
        content = b"".join(self._parts)
        self._parts.clear()
        return content
