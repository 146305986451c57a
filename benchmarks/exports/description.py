from benchmarks.models import Case, Entrant, Run
from benchmarks.queries.left_out import read_left_out
from benchmarks.reports.item_rows import entrant_key
from common.payload_types import JsonObject

METHOD_TEXT = (
    "Means are of cases, with 95 % intervals that count cases of a cluster as one; differences are paired by case; "
    "joint intervals hold for all pairs together. An answer without a score is missing, not wrong, unless the template "
    "counts errors as wrong. docs/benchmarks-method.md has the formulas."
)


def described_run(run: Run) -> JsonObject:
    version, checks = run.version, run.scoring_version
    left_out = [
        {"entrant": entrant_key(row.entrant), "answers": row.answers, "items": row.items} for row in read_left_out(run)
    ]
    return {
        "run": run.public_id, "name": run.name, "state": run.state, "template": version.template.name,
        "version": version.number, "checks_version": checks.number, "version_digest": checks.digest,
        "errors_count": checks.errors_count, "relevant_difference": checks.relevant_difference,
        "repeats": run.repeats, "attempts": run.attempts,
        "concurrency": run.concurrency, "order_seed": run.order_seed, "budget": run.budget, "spent": run.spent,
        "left_out": left_out, "items": run.item_count, "started_at": run.started_at, "finished_at": run.finished_at,
    }  # fmt: skip


def described_entrant(entrant: Entrant, key: str) -> JsonObject:
    model = entrant.model
    return {
        "entrant": key, "label": entrant.label, "model": model.full_slug if model else entrant.imported,
        "name": model.name if model else entrant.imported, "upstream": model.upstream_name if model else "",
        "prompt": entrant.prompt.position, "parameters": entrant.parameters, "is_baseline": entrant.is_baseline,
        "left_out_at": entrant.left_out_at,
    }  # fmt: skip


def described_case(case: Case) -> JsonObject:
    return {
        "key": case.key, "variables": case.variables, "expected": case.expected, "messages": case.messages,
        "checks": case.checks, "cluster": case.cluster, "tags": case.tags, "metadata": case.metadata,
        "weight": case.weight, "threshold": case.threshold, "digest": case.digest,
        "files": [
            {"variable": file.variable, "name": file.upload.name, "sha256": file.upload.sha256}
            for file in case.files.all()
        ],
    }  # fmt: skip
