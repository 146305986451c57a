"""Inputs of decision reports, from stored reports of runs and published snapshots."""

import msgspec
from django.utils import timezone
from msgspec import structs

from accounts.models import Team
from benchmarks.models import Run, RunReport
from benchmarks.reports.item_rows import entrant_key
from benchmarks.reports.store import payload_of
from benchmarks.statistics.payload import ReportPayload
from leaderboard.boards.snapshots import read_snapshot
from leaderboard.boards.standings import model_label
from leaderboard.models import AggregationRun
from leaderboard.payload_types import ResultPayload, SnapshotPayload
from models_registry.payload_types import ModelPayload
from reviews.reports.document import (
    FORMAT,
    BoardInputs,
    BoardLine,
    DecidingVotes,
    Document,
    Inputs,
    Label,
    RunInputs,
)
from reviews.reports.figures import figures_of


def run_inputs(run: Run, stored: RunReport) -> RunInputs:
    return RunInputs(
        run=run.public_id, name=run.name, template=run.version.template.name, version=run.version.number,
        number=stored.number, is_cancelled=run.state == Run.State.CANCELLED, computed_at=stored.computed_at,
        payload=primary_only(payload_of(stored)),
    )  # fmt: skip


def primary_only(payload: ReportPayload) -> ReportPayload:
    """Return what a decision report needs of a run's."""
    primary = next(metric for metric in payload.metrics if metric.is_primary)
    return structs.replace(payload, metrics=[primary], passes=[], tags=[], tags_left_out=0)


def labels_of_run(run: Run) -> dict[str, Label]:
    return {
        entrant_key(entrant): Label(
            name=str(entrant),
            version=str(entrant.model.version) if entrant.model else "",
            upstream=entrant.model.upstream_name if entrant.model else "",
            prompt=entrant.prompt.label,
            parameters=msgspec.json.encode(entrant.parameters).decode() if entrant.parameters else "",
        )
        for entrant in run.entrants.select_related("model__team", "prompt").order_by("position")
    }


def snapshot_of(run: AggregationRun, team: Team | None) -> SnapshotPayload:
    return read_snapshot(run.public_id, team)


def board_inputs(snapshot: SnapshotPayload, team: str) -> BoardInputs:
    facts = snapshot["facts"]
    return BoardInputs(
        snapshot=snapshot["id"], board=snapshot["board"], title=snapshot["title"], team=team,
        computed_at=snapshot["computed_at"] or timezone.now(), method=snapshot["method"]["name"],
        parameters_hash=snapshot["method"]["parameters_hash"], tallies_checksum=snapshot["tallies_checksum"],
        votes_counted=snapshot["votes_counted"], votes_excluded=sum(snapshot["votes_excluded"].values()),
        effective_voters=facts.get("effective_voters"), to_add=_deciding(facts.get("flips_first")),
        to_drop=_deciding(facts.get("drops_first")), lines=[_line(line) for line in snapshot["results"]],
    )  # fmt: skip


def labels_of_board(snapshot: SnapshotPayload) -> dict[str, Label]:
    models: list[ModelPayload] = [line["model"] for line in (*snapshot["results"], *snapshot["collecting"])]
    return {model["id"]: Label(name=model_label(model), version=str(model["version"] or "")) for model in models}


def document(public_id: str, question: str, subject: Inputs, labels: dict[str, Label]) -> Document:
    return Document(
        format=FORMAT, id=public_id, created_at=timezone.now(), question=question, subject=subject, labels=labels,
        figures=figures_of(subject),
    )  # fmt: skip


def _deciding(fact: "dict[str, object] | None") -> DecidingVotes | None:
    return DecidingVotes(int(str(fact["votes"])), str(fact["first"])) if fact else None


def _line(line: ResultPayload) -> BoardLine:
    model = line["model"]
    read, written = model["price_input"], model["price_output"]
    return BoardLine(
        key=model["id"], votes=line["votes"], group=line["group"], preliminary=line["preliminary"],
        score=line["score"], low=line["ci_low"], high=line["ci_high"], rank=line["rank"],
        rank_best=line["rank_best"], rank_worst=line["rank_worst"], tier=line["tier"],
        first_token_ms=line["median_first_token_ms"], price_input=None if read is None else float(read),
        price_output=None if written is None else float(written),
    )  # fmt: skip
