from collections.abc import Mapping
from decimal import Decimal
from operator import itemgetter
from typing import NamedTuple, cast

from leaderboard.counting.contestants import contestant_name, marked_name
from leaderboard.models import AggregationRun, Contestant, Standing
from leaderboard.models.imported import SCOPE as IMPORTED
from leaderboard.payload_types import ResultPayload, StyleScorePayload
from leaderboard.rating.differences import observed_share
from leaderboard.rating.snapshot_facts import AgreementFacts
from models_registry.models import Price
from models_registry.payload_types import ModelPayload
from models_registry.payloads import model_summary, prices_in_force

ORDERS = ("asc", "desc")


class StandingRow(NamedTuple):
    standing: Standing
    model: ModelPayload


def read_standings(run: AggregationRun) -> list[StandingRow]:
    """Return standings with models; two queries."""
    # These columns may be long, and no payload contains them.
    deferred = ("system_prompt", "parameters", "aliases")
    if run.scope.startswith(IMPORTED):
        model_columns = [f"contestant__model__{name}" for name in deferred]
        standings = list(run.standings.select_related("contestant__model").defer(*model_columns))
        contestants = [standing.contestant for standing in standings if standing.contestant is not None]
        prices = prices_in_force(contestant.model_id for contestant in contestants if contestant.model_id is not None)
        summaries = [contestant_summary(contestant, prices=prices) for contestant in contestants]
    else:
        related = "model" if run.team_id is None else "model__team"
        standings = list(run.standings.select_related(related).defer(*[f"model__{name}" for name in deferred]))
        models = [standing.model for standing in standings if standing.model is not None]
        prices = prices_in_force(model.pk for model in models)
        summaries = [model_summary(model, prices=prices) for model in models]
    return [StandingRow(*pair) for pair in zip(standings, summaries, strict=True)]


def contestant_summary(contestant: Contestant, *, prices: Mapping[int, Price]) -> ModelPayload:
    """Include the registry's data of a linked model."""
    if contestant.model is not None:
        known = model_summary(contestant.model, prices=prices)
        return {**known, "id": contestant.name, "name": contestant.name}
    return {
        "id": contestant.name,
        "name": contestant.name,
        "organization": "",
        "license": "",
        "license_kind": "",
        "status": "",
        "context_length": None,
        "price_input": None,
        "price_output": None,
        "version": None,
        "abilities": [],
        "size_b": None,
        "icon": None,
        "energy": None,
    }


def model_label(model: ModelPayload) -> str:
    return marked_name(model["name"], model["id"])


def standing_payload(
    row: StandingRow, *, with_style_control: bool = False, elo: float | None = None, new_votes: int | None = None
) -> ResultPayload:
    """Return the payload of one line.

    elo: live rating instead of the snapshot's; new_votes: those since the last run, None for a fixed line. With style
    control, score, interval and rank are style-controlled, or None.
    """
    standing, style = row.standing, _style(row.standing)
    both_bad_low, both_bad_high = _both_bad_interval(standing)
    shown = (_Score(**style) if style else _Score()) if with_style_control else _score(standing)
    return {
        "rank": shown.rank,
        "rank_best": shown.rank_best,
        "rank_worst": shown.rank_worst,
        "tier": None if with_style_control else standing.tier,
        "model": row.model,
        "score": shown.score,
        "ci_low": shown.ci_low,
        "ci_high": shown.ci_high,
        "elo": standing.elo if elo is None else elo,
        "votes": standing.votes,
        "live_votes": None if new_votes is None else standing.votes + new_votes,
        "wins": standing.wins,
        "losses": standing.losses,
        "ties": standing.ties,
        "both_bad": standing.both_bad,
        "both_bad_rate": standing.both_bad / standing.votes,
        "both_bad_low": both_bad_low,
        "both_bad_high": both_bad_high,
        # A tie of either kind is half a win, as for the score.
        "win_rate": (standing.wins + (standing.ties + standing.both_bad) / 2) / standing.votes,
        "preliminary": standing.preliminary,
        "median_first_token_ms": standing.median_first_token_ms,
        "group": standing.group,
        "design_effect": standing.design_effect,
        "agreement_score": _agreement_score(row),
        "style": style,
    }


def _agreement_score(row: StandingRow) -> float | None:
    run, name = row.standing.run, row.model["id"]
    agreement: AgreementFacts | None = run.facts.get("agreement")
    return agreement["scores"].get(name if run.team_id is None else contestant_name(name)) if agreement else None


def _both_bad_interval(standing: Standing) -> tuple[float, float] | tuple[None, None]:
    effect = standing.both_bad_design_effect
    if effect is None:
        return None, None
    interval = observed_share(standing.both_bad, standing.votes, design_effect=effect)
    return interval.low, interval.high


class _Score(NamedTuple):
    rank: int | None = None
    rank_best: int | None = None
    rank_worst: int | None = None
    score: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None


def _score(standing: Standing) -> _Score:
    return _Score(
        standing.rank, standing.rank_best, standing.rank_worst, standing.score, standing.ci_low, standing.ci_high
    )


def _style(standing: Standing) -> StyleScorePayload | None:
    if standing.style_score is None:
        return None
    return {
        "score": standing.style_score,
        "ci_low": standing.style_ci_low,
        "ci_high": standing.style_ci_high,
        "rank": standing.style_rank,
        "rank_best": standing.style_rank_best,
        "rank_worst": standing.style_rank_worst,
    }


def sort_results(lines: list[ResultPayload], *, sort_by: str = "score", order: str = "desc") -> list[ResultPayload]:
    """Sort results; unknown values come last in both directions, ties by score."""
    by_score = sorted(lines, key=lambda line: _lowest_last(line["score"]), reverse=True)
    keys = [(line, _sort_key(line, sort_by)) for line in by_score]
    known = [(line, key) for line, key in keys if key is not None]
    unknown = [line for line, key in keys if key is None]
    return [line for line, _ in sorted(known, key=itemgetter(1), reverse=order == "desc")] + unknown


def _lowest_last(score: float | None) -> tuple[bool, float]:
    return (score is not None, score or 0.0)


def _sort_key(line: ResultPayload, sort_by: str) -> Decimal | str | float | None:
    if sort_by == "price":  # per million output tokens
        price = line["model"]["price_output"]
        return None if price is None else Decimal(price)
    if sort_by == "energy":
        energy = line["model"]["energy"]
        return None if energy is None else energy["wh_low"] + energy["wh_high"]
    value = cast("dict[str, str | float | None]", {**line["model"], **line})[sort_by]
    return value.lower() or None if isinstance(value, str) else value
