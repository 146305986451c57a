"""Reading a board: its newest snapshot in the API's words, the same for pages, files and API."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from operator import itemgetter
from typing import Any

from django.utils import timezone

from common.errors import InvalidInput
from leaderboard import method, schedule
from leaderboard.errors import NoSuchBoard, NoSuchSnapshot
from leaderboard.models import OVERALL, AggregationRun, EloRating, Standing
from models_registry.models import LanguageModel
from models_registry.summary import model_summary

Line = dict[str, Any]

BOARDS = (OVERALL,)

ORDERS = ("asc", "desc")
_NUMBERS = (
    "rank", "score", "ci_low", "ci_high", "elo", "votes", "wins", "losses", "ties", "both_bad", "win_rate",
    "median_first_token_ms",
)  # fmt: skip
_WORDS = ("name", "organization", "license")
SORTS = (*_NUMBERS, *_WORDS, "price")


@dataclass(frozen=True)
class BoardQuery:
    """What somebody wants to see of a board."""

    board: str = OVERALL
    sort_by: str = "score"
    order: str = "desc"
    search: str = ""
    organization: str = ""
    license: str = ""

    @classmethod
    def read(cls, given: Mapping[str, str]) -> "BoardQuery":
        """From a URL's parameters; others are ignored. Raises InvalidInput and NoSuchBoard."""
        named = {name: given[name].strip() for name in cls.__match_args__ if given.get(name, "").strip()}
        for short in ("category", "language"):
            if given.get(short):
                named.setdefault("board", f"{short}:{given[short]}")
        query = cls(**named)
        fields = {
            name: [f"Choose one of: {', '.join(choices)}."]
            for name, choices in (("sort_by", SORTS), ("order", ORDERS))
            if getattr(query, name) not in choices
        }
        if fields:
            raise InvalidInput(" ".join(sentence for [sentence] in fields.values()), fields=fields)
        if query.board not in BOARDS:
            raise NoSuchBoard
        return query

    def wants(self, model: dict[str, Any]) -> bool:
        words = " ".join((model["name"], model["organization"], model["id"])).lower()
        return (
            self.search.lower() in words
            and self.organization in ("", model["organization"])
            and self.license in ("", model["license"], model["license_kind"])
        )


def read_board(query: BoardQuery) -> dict[str, Any]:
    """The API's Leaderboard object; without a snapshot it has no results but says when one is due."""
    run = AggregationRun.objects.snapshots(query.board).first()
    board = _board(query.board, run)
    # Whoever is set up and has no vote yet is waiting too, also while a breaker keeps it from being drawn.
    newcomers = LanguageModel.objects.set_up()
    known = {line["model"]["id"] for line in board["results"] + board["collecting"]}
    board["collecting"] += [
        {"model": model_summary(model), "votes": 0} for model in newcomers if model.slug not in known
    ]
    for part in ("results", "collecting"):
        board[part] = [line for line in board[part] if query.wants(line["model"])]
    board["results"] = _sorted(board["results"], query)
    return board


def read_snapshot(public_id: str) -> dict[str, Any]:
    """One snapshot as it was published, and what it was made of. Raises NoSuchSnapshot."""
    run = AggregationRun.objects.filter(public_id=public_id, state=AggregationRun.State.DONE).first()
    if run is None:
        raise NoSuchSnapshot
    board = _board(run.scope, run)
    board["results"] = _sorted(board["results"], BoardQuery())
    return {**describe_run(run), **board}


def describe_run(run: AggregationRun) -> dict[str, Any]:
    """A line in the list of snapshots."""
    return {
        "id": run.public_id,
        "board": run.scope,
        "computed_at": run.finished_at,
        "method": _method(run),
        "tallies_checksum": run.tallies_checksum,
        "last_order": run.last_order,
        "votes_taken": run.votes_taken,
        "votes_counted": run.votes_counted,
        "votes_excluded": run.votes_excluded,
        "duration_ms": run.duration_ms,
    }


def list_boards() -> list[dict[str, Any]]:
    """Boards that exist, with counts."""
    runs = {board: AggregationRun.objects.snapshots(board).first() for board in BOARDS}
    return [_heading(board, run, list(run.standings.all()) if run else []) for board, run in runs.items()]


def standing_of(slug: str) -> dict[str, Any]:
    """{score, rank, preliminary, elo} of one model on the main board now; None for what it has not got yet."""
    newest = AggregationRun.objects.snapshots(OVERALL).values("pk")[:1]
    line = Standing.objects.filter(run=newest, model__slug=slug).values("score", "rank", "preliminary").first()
    elo = EloRating.objects.filter(model__slug=slug).values_list("rating", flat=True).first()
    return {**(line or {"score": None, "rank": None, "preliminary": None}), "elo": elo}


def _heading(board: str, run: AggregationRun | None, lines: list[Standing]) -> dict[str, Any]:
    return {
        "board": board,
        "category": None,
        "snapshot": run.public_id if run else None,
        "computed_at": run.finished_at if run else None,
        "next_due_at": schedule.next_due_at(timezone.now()),
        "votes_counted": run.votes_counted if run else 0,
        "votes_excluded": run.votes_excluded if run else {},
        "models": sum(line.score is not None for line in lines),
    }


def _board(board: str, run: AggregationRun | None) -> dict[str, Any]:
    lines = list(run.standings.select_related("model").prefetch_related("model__prices")) if run else []
    return {
        **_heading(board, run, lines),
        "method": _method(run),
        "results": [_result(line) for line in lines if line.score is not None],
        "collecting": [
            {"model": model_summary(line.model), "votes": line.votes}
            for line in lines
            if line.score is None and line.votes
        ],
    }


def _method(run: AggregationRun | None) -> dict[str, Any]:
    if run is None:
        return {
            "name": method.NAME,
            "parameters": method.parameters(),
            "parameters_hash": method.parameters_hash(),
        }
    return {"name": run.method, "parameters": run.parameters, "parameters_hash": run.parameters_hash}


def _result(line: Standing) -> Line:
    return {
        "rank": line.rank,
        "rank_best": line.rank_best,
        "rank_worst": line.rank_worst,
        "model": model_summary(line.model),
        "score": line.score,
        "ci_low": line.ci_low,
        "ci_high": line.ci_high,
        "elo": line.elo,
        "votes": line.votes,
        "wins": line.wins,
        "losses": line.losses,
        "ties": line.ties,
        "both_bad": line.both_bad,
        # A tie of either kind is half a win, as for the score.
        "win_rate": (line.wins + (line.ties + line.both_bad) / 2) / line.votes,
        "preliminary": line.preliminary,
        "median_first_token_ms": line.median_first_token_ms,
    }


def _sorted(lines: list[Line], query: BoardQuery) -> list[Line]:
    """What is not known comes last in either direction; equals are in the order of their scores."""

    def key(line: Line) -> Any:
        return _sort_key(line, query.sort_by)

    by_score = sorted(lines, key=itemgetter("score"), reverse=True)
    known = [line for line in by_score if key(line) is not None]
    unknown = [line for line in by_score if key(line) is None]
    return sorted(known, key=key, reverse=query.order == "desc") + unknown


def _sort_key(line: Line, sort_by: str) -> Any:
    if sort_by == "price":  # of a million tokens of answer
        price = line["model"]["price_output"]
        return None if price is None else Decimal(price)
    if sort_by in _WORDS:
        return line["model"][sort_by].lower() or None
    return line[sort_by]
