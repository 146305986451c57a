"""Inputs of decision reports, from stored reports of runs, published snapshots, and opinions of reviews."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import cast

import msgspec
from django.db.models import Count, Sum
from django.utils import timezone
from msgspec import structs

from accounts.models import Team
from benchmarks.judges.results import judges_of
from benchmarks.models import Entrant, ItemReply, Run, RunReport
from benchmarks.reports.item_rows import entrant_key
from benchmarks.reports.store import payload_of
from benchmarks.statistics.payload import ReportPayload, number
from leaderboard.boards.snapshots import read_snapshot
from leaderboard.boards.standings import model_label
from leaderboard.models import AggregationRun
from leaderboard.payload_types import ResultPayload, SnapshotPayload
from models_registry.energy.estimates import energy_of_answer
from models_registry.payload_types import ModelPayload
from reviews.actions.contrasts import people_who_ended, read_contrasts
from reviews.actions.joining import networks_forgotten
from reviews.agreement.gathering import checks_of, gather, judges_on
from reviews.agreement.results import MAX_JUDGES, CalibratedBoard, boards_of
from reviews.models import Review
from reviews.queries import read_totals, retired_models
from reviews.reports.document import (
    FORMAT,
    AgreementInputs,
    BoardInputs,
    BoardLine,
    CalibratedInputs,
    CalibratedLine,
    CampaignInputs,
    ContrastInputs,
    DecidingVotes,
    Document,
    Inputs,
    JudgeInputs,
    Label,
    RunInputs,
    StopRuleInputs,
    WattHours,
)
from reviews.reports.figures import figures_of
from reviews.reports.people import tables_of
from reviews.statistics.comparisons import pairs_with_people
from reviews.statistics.stop_rule import means_in_order


def run_inputs(run: Run, stored: RunReport) -> RunInputs:
    reviews = list(Review.objects.filter(run=run).closed().order_by("-created_at", "-pk"))
    return RunInputs(
        run=run.public_id, name=run.name, template=run.version.template.name, version=run.version.number,
        number=stored.number, is_cancelled=run.state == Run.State.CANCELLED, computed_at=stored.computed_at,
        payload=primary_only(payload_of(stored)), agreement=agreement_inputs(run, reviews, entrant_key),
        energy=energy_of_entrants(run),
    )  # fmt: skip


def energy_of_entrants(run: Run) -> dict[str, WattHours]:
    """Return the energy of an answer of mean length, with its follow-ups, by entrant of which it is known."""
    counted = ItemReply.objects.filter(item__run=run, reply__call__completion_tokens__isnull=False)
    tokens = counted.values("item__entrant").annotate(
        mean=Sum("reply__call__completion_tokens") / Count("item", distinct=True)
    )
    means = dict(tokens.values_list("item__entrant", "mean"))
    energy: dict[str, WattHours] = {}
    for entrant in run.entrants.select_related("model"):
        if entrant.model is not None and (known := energy_of_answer(entrant.model, means.get(entrant.pk), None)):
            energy[entrant_key(entrant)] = WattHours(known["wh_low"], known["wh_high"])
    return energy


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


def snapshot_of(run: AggregationRun, team: Team | None, review: str = "") -> SnapshotPayload:
    return read_snapshot(run.public_id, team, review)


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


def campaign_inputs(review: Review, snapshot: SnapshotPayload) -> CampaignInputs:
    template = None if review.run is None else review.run.version
    return CampaignInputs(
        review=review.public_id, title=review.title, run="" if review.run is None else review.run.public_id,
        template="" if template is None else template.template.name, version=0 if template is None else template.number,
        audience=review.audience, plan=review.plan, opinions_per_item=review.opinions_per_item,
        items=review.item_count, left_out=review.left_out, expected_people=review.expected_people,
        people=read_totals(review).people, most_of_a_network=review.most_of_a_network,
        set_aside=review.reviewers.filter(set_aside_at__isnull=False).count(), ended_by=review.ended_by,
        opened_at=cast(datetime, review.opened_at), ended_at=cast(datetime, review.ended_at),
        board=board_inputs(snapshot, "" if review.team is None else review.team.slug),
        agreement=None if review.run is None else agreement_inputs(review.run, [review], _contestant),
        stop_rule=stop_rule_inputs(review), cases=msgspec.UNSET if review.cases is None else review.cases,
        networks_forgotten=networks_forgotten(review) or msgspec.UNSET,
        retired=[model.full_slug for model in retired_models(review)] or msgspec.UNSET,
    )  # fmt: skip


def stop_rule_inputs(review: Review) -> StopRuleInputs | msgspec.UnsetType:
    contrasts = read_contrasts(review)
    if review.stop_share is None or not contrasts:
        return msgspec.UNSET
    people = people_who_ended(review)
    return StopRuleInputs(
        share=review.stop_share, level=review.stop_level,
        contrasts=[
            ContrastInputs(
                first=contrast.first_model.full_slug, second=contrast.second_model.full_slug,
                means=means_in_order(people[contrast.pk]),
                opinions=sum(len(person.opinions) for person in people[contrast.pk]),
            )
            for contrast in contrasts
        ],
    )  # fmt: skip


def _contestant(entrant: Entrant) -> str:
    return "" if entrant.model is None else entrant.model.full_slug


def agreement_inputs(run: Run, reviews: Sequence[Review], key: Callable[[Entrant], str]) -> AgreementInputs | None:
    """Return opinions in reviews of a run, None without any; boards are those of the latest review. key: of lines."""
    if not reviews:
        return None
    gathered = gather(run, reviews)
    if not len(gathered.people.key):
        return None
    judges = judges_on(gathered, judges_of(run)[:MAX_JUDGES])
    pairs = pairs_with_people(
        gathered.shown, gathered.people, [*(each.preferences for each in judges), checks_of(gathered)]
    )
    latest = gathered if len(reviews) == 1 else gather(run, reviews[:1])
    of_latest = judges if len(reviews) == 1 else judges_on(latest, [each.judge for each in judges])
    boards = boards_of(reviews[0], run, latest, of_latest)
    cases: dict[int, int] = {}
    *with_judges, with_checks = pairs.with_people
    return AgreementInputs(
        reviews=len(reviews), opinions=len(gathered.people.key), people=tables_of(pairs.people, cases),
        checks=tables_of(with_checks, cases),
        judges=[
            JudgeInputs(
                key=each.judge.public_id, name=each.judge.name, number=each.judge.number, model=str(each.judge.model),
                pairs=tables_of(own, cases), board=None if board is None else _calibrated(board, run, key),
                no_board=no_board,
            )
            for each, own, (board, no_board) in zip(judges, with_judges, boards, strict=True)
        ],
    )  # fmt: skip


def _calibrated(board: CalibratedBoard, run: Run, key: Callable[[Entrant], str]) -> CalibratedInputs:
    several = run.version.prompts.count() > 1
    return CalibratedInputs(
        opinions=board.opinions, people=board.people, cases=board.cases, rate=number(board.rate) or 0.0,
        lines=[
            CalibratedLine(
                key=key(line.entrant), prompt=line.entrant.prompt.label if several else "", checks=line.checks,
                judge=line.judge, people=line.people, calibrated=line.calibrated, worth=number(line.worth) or 0.0,
            )
            for line in board.lines
        ],
    )  # fmt: skip


def labels_of_board(snapshot: SnapshotPayload) -> dict[str, Label]:
    models: list[ModelPayload] = [line["model"] for line in (*snapshot["results"], *snapshot["collecting"])]
    return {model["id"]: Label(name=model_label(model), version=str(model["version"] or "")) for model in models}


def labels_of_review(review: Review, snapshot: SnapshotPayload) -> dict[str, Label]:
    """Return labels of the board, and of models without a counted vote that the report names."""
    models = [model for contrast in read_contrasts(review) for model in (contrast.first_model, contrast.second_model)]
    models += retired_models(review)
    return {model.full_slug: Label(name=str(model)) for model in models} | labels_of_board(snapshot)


def document(public_id: str, question: str, subject: Inputs, labels: dict[str, Label]) -> Document:
    return Document(
        format=FORMAT, id=public_id, created_at=timezone.now(), question=question, subject=subject, labels=labels,
        figures=figures_of(subject),
    )  # fmt: skip


def _deciding(fact: "dict[str, object] | None") -> DecidingVotes | None:
    return DecidingVotes(int(str(fact["votes"])), str(fact["first"])) if fact else None


def _line(line: ResultPayload) -> BoardLine:
    model = line["model"]
    read, written, energy = model["price_input"], model["price_output"], model["energy"]
    return BoardLine(
        key=model["id"], votes=line["votes"], group=line["group"], preliminary=line["preliminary"],
        score=line["score"], low=line["ci_low"], high=line["ci_high"], rank=line["rank"],
        rank_best=line["rank_best"], rank_worst=line["rank_worst"], tier=line["tier"],
        first_token_ms=line["median_first_token_ms"], price_input=None if read is None else float(read),
        price_output=None if written is None else float(written),
        energy=msgspec.UNSET if energy is None else WattHours(energy["wh_low"], energy["wh_high"]),
    )  # fmt: skip
