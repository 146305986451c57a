"""One contestant's line of a board in the API's words, and in which order lines come."""

from collections.abc import Mapping
from decimal import Decimal
from operator import itemgetter
from typing import NamedTuple, cast

from leaderboard.models import AggregationRun, Contestant, EloRating, Standing
from leaderboard.models.imported import SCOPE as IMPORTED
from leaderboard.payload_types import ResultPayload, StyleScorePayload
from models_registry.models import Price
from models_registry.payload_types import ModelPayload
from models_registry.payloads import model_summary, prices_in_force

ORDERS = ("asc", "desc")
NUMBERS = (
    "rank", "score", "ci_low", "ci_high", "elo", "votes", "wins", "losses", "ties", "both_bad", "win_rate",
    "median_first_token_ms",
)  # fmt: skip
WORDS = ("name", "organization", "license")
SORTS = (*NUMBERS, *WORDS, "price")


class Stood(NamedTuple):
    """One standing and who it is about."""

    standing: Standing
    model: ModelPayload


def read_standings(run: AggregationRun) -> list[Stood]:
    """A snapshot's standings with all that a line says; two queries."""
    # What is sent to a model may be long, and no line says it.
    unsaid = ("system_prompt", "parameters", "aliases")
    if run.scope.startswith(IMPORTED):
        known = [f"contestant__model__{name}" for name in unsaid]
        standings = list(run.standings.select_related("contestant__model").defer(*known))
        contestants = [standing.contestant for standing in standings if standing.contestant is not None]
        prices = prices_in_force(one.model_id for one in contestants if one.model_id is not None)
        said = [contestant_summary(contestant, prices=prices) for contestant in contestants]
    else:
        standings = list(run.standings.select_related("model").defer(*[f"model__{name}" for name in unsaid]))
        models = [standing.model for standing in standings if standing.model is not None]
        prices = prices_in_force(model.pk for model in models)
        said = [model_summary(model, prices=prices) for model in models]
    return [Stood(*pair) for pair in zip(standings, said, strict=True)]


def contestant_summary(contestant: Contestant, *, prices: Mapping[int, Price]) -> ModelPayload:
    """As model_summary, of a name in an imported table; the rest from the registry where it is a model of ours."""
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
    }


def result_line(stood: Stood, *, with_style_control: bool = False, elo: float | None = None) -> ResultPayload:
    """`elo` is the live figure; without it, the one at the time of the snapshot.

    With style control the score, its interval and the rank are those with style taken out, or None.
    """
    standing, style = stood.standing, _style(stood.standing)
    shown = (_Score(**style) if style else _Score()) if with_style_control else _score(standing)
    return {
        "rank": shown.rank,
        "rank_best": shown.rank_best,
        "rank_worst": shown.rank_worst,
        "model": stood.model,
        "score": shown.score,
        "ci_low": shown.ci_low,
        "ci_high": shown.ci_high,
        "elo": standing.elo if elo is None else elo,
        "votes": standing.votes,
        "wins": standing.wins,
        "losses": standing.losses,
        "ties": standing.ties,
        "both_bad": standing.both_bad,
        # A tie of either kind is half a win, as for the score.
        "win_rate": (standing.wins + (standing.ties + standing.both_bad) / 2) / standing.votes,
        "preliminary": standing.preliminary,
        "median_first_token_ms": standing.median_first_token_ms,
        "group": standing.group,
        "design_effect": standing.design_effect,
        "style": style,
    }


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


def live_elo(stood: list[Stood]) -> Mapping[int | None, float]:
    """By the models' ids, now."""
    ids = [one.standing.model_id for one in stood if one.standing.model_id is not None]
    return dict(EloRating.objects.filter(pk__in=ids).values_list("pk", "rating"))


def in_order(lines: list[ResultPayload], *, sort_by: str = "score", order: str = "desc") -> list[ResultPayload]:
    """What is not known comes last in either direction; equals are in the order of their scores."""

    by_score = sorted(lines, key=lambda line: _lowest_last(line["score"]), reverse=True)
    keys = [(line, _sort_key(line, sort_by)) for line in by_score]
    known = [(line, key) for line, key in keys if key is not None]
    unknown = [line for line, key in keys if key is None]
    return [line for line, _ in sorted(known, key=itemgetter(1), reverse=order == "desc")] + unknown


def _lowest_last(score: float | None) -> tuple[bool, float]:
    return (score is not None, score or 0.0)


def _sort_key(line: ResultPayload, sort_by: str) -> Decimal | str | float | None:
    model = line["model"]
    if sort_by == "price":  # of a million tokens of answer
        return None if model["price_output"] is None else Decimal(model["price_output"])
    if sort_by in WORDS:
        return str(cast("dict[str, object]", model)[sort_by]).lower() or None
    return cast("dict[str, float | None]", line)[sort_by]
