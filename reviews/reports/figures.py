"""Figures of a decision report, from its inputs alone."""

from collections.abc import Iterator, Sequence
from math import sqrt

from msgspec import UNSET, structs

from benchmarks.statistics.payload import Mean, Pair, ReportPayload
from leaderboard.rating.differences import Z, growth_until_significant, more_votes, variances_of_differences
from reviews.reports.document import (
    BoardInputs,
    BoardLine,
    CampaignInputs,
    Caution,
    Difference,
    Figures,
    Inputs,
    Line,
    RunInputs,
)
from reviews.reports.people import agreement_figures, cautions_of_campaign, contrast_figures

# Fewer independent cases, or fewer voters in effect, are named.
FEW_CASES, FEW_VOTERS = 30, 5.0
# Boards whose voters saw the names.
NAMES_KNOWN = ("side-by-side", "compare")


def figures_of(subject: Inputs) -> Figures:
    match subject:
        case BoardInputs():
            return _of_board(subject)
        case RunInputs():
            figures = _of_run(subject)
        case CampaignInputs():
            figures = _of_board(subject.board)
            of_board = [caution for caution in figures.cautions if caution.code != "few_voters"]
            cautions = [*cautions_of_campaign(subject), *of_board]
            figures = structs.replace(figures, cautions=cautions)
            if subject.stop_rule:
                figures = structs.replace(figures, contrasts=list(contrast_figures(subject.stop_rule)))
    if subject.agreement is None:
        return figures
    return structs.replace(figures, agreement=list(agreement_figures(subject.agreement)))


def _of_run(subject: RunInputs) -> Figures:
    payload = subject.payload
    metric, usage = payload.metrics[0], {figures.entrant: figures for figures in payload.usage}
    ranks = {rank.entrant: rank for rank in payload.ranks}
    beaten: dict[str, list[str]] = {mean.entrant: [] for mean in metric.means}
    for pair in metric.pairs:
        if pair.is_separable and pair.difference.value is not None:
            winner, loser = (pair.first, pair.second) if pair.difference.value > 0 else (pair.second, pair.first)
            beaten[winner].append(loser)
    lines, energy = list[Line](), subject.energy or {}
    for mean in sorted(metric.means, key=lambda mean: _order(mean, is_ranked=mean.entrant in ranks)):
        rank, used = ranks.get(mean.entrant), usage[mean.entrant]
        lines.append(
            Line(
                key=mean.entrant,
                rank_best=rank.best if rank else None,
                rank_worst=rank.worst if rank else None,
                is_best=rank is not None and rank.is_in_best_group,
                value=mean.mean.value,
                low=mean.mean.low,
                high=mean.mean.high,
                counted=mean.scored,
                planned=mean.planned,
                note="" if mean.is_complete else "incomplete",
                better_than=sorted(beaten[mean.entrant]),
                cost=used.cost_per_item.value,
                cost_low=used.cost_per_item.low,
                cost_high=used.cost_per_item.high,
                first_token_ms=used.first_token_p50.value,
                total_ms=used.total_p50.value,
                on_front=used.is_on_front,
                beaten_in_both=used.is_surely_dominated,
                energy=energy.get(mean.entrant, UNSET),
            )
        )
    baseline = next((entrant.entrant for entrant in payload.entrants if entrant.is_baseline), None)
    reference = baseline or (lines[0].key if lines else "")
    pairs = metric.against_baseline if baseline else metric.pairs
    by_other = {_other(pair, reference): pair for pair in pairs if reference in (pair.first, pair.second)}
    differences = [_difference(by_other[line.key], reference) for line in lines if line.key in by_other]
    return Figures(
        unit="share", cautions=list(_cautions_of_run(subject, lines)), lines=lines, differences=differences
    )  # fmt: skip


def _order(mean: Mean, *, is_ranked: bool) -> tuple[bool, float, str]:
    return (not is_ranked, -(mean.mean.value or 0.0), mean.entrant)


def _other(pair: Pair, reference: str) -> str:
    return pair.second if pair.first == reference else pair.first


def _difference(pair: Pair, reference: str) -> Difference:
    interval = pair.joint or pair.difference
    bounds = (pair.difference.value, interval.low, interval.high)
    if pair.first != reference:
        value, high, low = (None if bound is None else -bound for bound in bounds)
    else:
        value, low, high = bounds
    return Difference(
        reference=reference, other=_other(pair, reference), value=value, low=low, high=high,
        is_apart=pair.is_separable, needed=None if pair.is_separable else pair.cases_needed,
        repeats_needed=None if pair.is_separable else pair.repeats_needed,
    )  # fmt: skip


def _cautions_of_run(subject: RunInputs, lines: Sequence[Line]) -> Iterator[Caution]:
    payload: ReportPayload = subject.payload
    means = {mean.entrant: mean for mean in payload.metrics[0].means}
    if subject.is_cancelled:
        yield Caution(code="cancelled")
    if all(line.value is None for line in lines):
        yield Caution(code="no_scores")
        return
    if payload.clusters < FEW_CASES:
        yield Caution(code="few_cases", n=payload.clusters)
    if reused := sum(figures.reused for figures in payload.usage):
        yield Caution(code="reused", n=reused)
    if lost := sum(figures.lost_cost for figures in payload.usage):
        yield Caution(code="lost", cost=lost)
    for line in lines:
        if line.note == "incomplete":
            yield Caution(code="incomplete", key=line.key, n=line.counted, of=line.planned or 0)
    if unscored := sum(mean.unscored for mean in means.values()):
        yield Caution(code="unscored", n=unscored)


def _of_board(subject: BoardInputs) -> Figures:
    listed = sorted(
        (line for line in subject.lines if line.score is not None),
        key=lambda line: (line.group, -(line.score or 0.0), line.key),
    )
    main = [line for line in listed if line.group == 0]
    front = _front(main)
    lines = [_board_line(line, main, is_on_front=line.key in front) for line in listed]
    return Figures(
        unit="points", cautions=list(_cautions_of_board(subject, lines)), lines=lines,
        differences=list(_board_differences(subject, main)),
    )  # fmt: skip


def _board_line(line: BoardLine, main: Sequence[BoardLine], *, is_on_front: bool) -> Line:
    tier, is_main = line.tier, line.group == 0
    later = [other for other in main if is_main and tier is not None and other.tier is not None and other.tier > tier]
    earlier = [other for other in main if is_main and tier is not None and other.tier is not None and other.tier < tier]
    return Line(
        key=line.key,
        rank_best=line.rank_best,
        rank_worst=line.rank_worst,
        is_best=is_main and line.rank_best == 1,
        value=line.score,
        low=line.low,
        high=line.high,
        counted=line.votes,
        note="preliminary" if line.preliminary else "",
        better_than=sorted(other.key for other in later),
        price_input=line.price_input,
        price_output=line.price_output,
        first_token_ms=line.first_token_ms,
        on_front=is_on_front,
        beaten_in_both=any(_is_cheaper(other, line) for other in earlier),
        energy=line.energy,
    )


def _is_cheaper(one: BoardLine, other: BoardLine) -> bool:
    if None in (one.price_input, one.price_output, other.price_input, other.price_output):
        return False
    prices = [(one.price_input or 0.0, other.price_input or 0.0), (one.price_output or 0.0, other.price_output or 0.0)]
    return all(own <= its for own, its in prices) and any(own < its for own, its in prices)


def _front(lines: Sequence[BoardLine]) -> set[str]:
    """Return the models with prices that no better one undercuts or equals in both."""
    priced = [line for line in lines if line.price_input is not None and line.price_output is not None]

    def undercuts(one: BoardLine, other: BoardLine) -> bool:
        same = (one.price_input, one.price_output) == (other.price_input, other.price_output)
        return (one.score or 0.0) > (other.score or 0.0) and (same or _is_cheaper(one, other))

    return {line.key for line in priced if not any(undercuts(one, line) for one in priced)}


def _board_differences(subject: BoardInputs, lines: Sequence[BoardLine]) -> Iterator[Difference]:
    variances = variances_of_differences((line.key, line.low, line.high, line.preliminary) for line in lines)
    known = [line for line in lines if line.key in variances]
    for line in known[1:]:
        first = known[0]
        value, variance = (first.score or 0.0) - (line.score or 0.0), variances[first.key] + variances[line.key]
        growth, half = growth_until_significant(value, variance), Z * sqrt(variance)
        yield Difference(
            reference=first.key, other=line.key, value=value, low=value - half, high=value + half,
            is_apart=growth <= 1, needed=more_votes(growth, subject.votes_counted) or None,
        )  # fmt: skip


def _cautions_of_board(subject: BoardInputs, lines: Sequence[Line]) -> Iterator[Caution]:
    if not lines:
        yield Caution(code="no_ranking")
        return
    if subject.board in NAMES_KNOWN:
        yield Caution(code="names_known")
    if subject.board == "auto":
        yield Caution(code="chosen_pairs")
    if subject.board.startswith("imported:"):
        yield Caution(code="imported")
    if subject.effective_voters is not None and subject.effective_voters < FEW_VOTERS:
        yield Caution(code="few_voters", n=max(1, round(subject.effective_voters)))
    if groups := len({line.group for line in subject.lines if line.score is not None}) - 1:
        yield Caution(code="separate_groups", n=groups)
    if preliminary := sum(line.note == "preliminary" for line in lines):
        yield Caution(code="preliminary", n=preliminary)
    if subject.votes_excluded:
        yield Caution(code="excluded", n=subject.votes_excluded)
