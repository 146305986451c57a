from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TypedDict

from django.db.models import Count, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import Team
from common.errors import InvalidInput
from common.payload_types import JsonObject
from leaderboard.boards.columns import SORTS
from leaderboard.boards.live_figures import LiveFigures, figures_beside, live_payload
from leaderboard.boards.standings import ORDERS, read_standings, sort_results, standing_payload
from leaderboard.boards.titles import board_description, board_title, board_titles
from leaderboard.counting import method, schedule
from leaderboard.counting.board_keys import Board, counts_votes
from leaderboard.counting.boards_of_teams import scopes_of_team
from leaderboard.counting.contestants import facts_for_readers
from leaderboard.errors import NoSuchBoard
from leaderboard.models import OVERALL, AggregationRun, AggregationRunQuerySet
from leaderboard.models.listed import LAST, is_hidden, listed_boards
from leaderboard.payload_types import BoardPayload, CollectingPayload, LeaderboardPayload, MethodPayload
from models_registry.models import LanguageModel
from models_registry.payload_types import ModelPayload
from models_registry.payloads import model_summary

_TRUE_VALUES = ("1", "true", "on", "yes")
_TEXT_PARAMETERS = ("board", "sort_by", "order", "search", "organization", "license")


@dataclass(frozen=True)
class BoardQuery:
    board: str = OVERALL
    sort_by: str = "score"
    order: str = "desc"
    search: str = ""
    organization: str = ""
    license: str = ""
    style_control: bool = False
    team: Team | None = None
    # Public id of a review whose board the reader may see.
    series: str = ""

    @classmethod
    def read(cls, parameters: Mapping[str, str], team: Team | None = None) -> "BoardQuery":
        """Parse a URL's parameters, ignoring unknown ones. Raises InvalidInput."""
        texts = {
            name: text for name in _TEXT_PARAMETERS if (text := parameters.get(name, "").replace("\x00", "").strip())
        }
        for kind in ("category", "language"):
            if parameters.get(kind):
                texts.setdefault("board", f"{kind}:{parameters[kind]}")
        style_control = parameters.get("style_control", "").lower() in _TRUE_VALUES
        query = cls(**texts, style_control=style_control, team=team)
        fields = {
            name: [_("Choose one of: %(choices)s.") % {"choices": ", ".join(choices)}]
            for name, choices in (("sort_by", SORTS), ("order", ORDERS))
            if getattr(query, name) not in choices
        }
        if fields:
            raise InvalidInput(fields=fields)
        return query

    @property
    def team_id(self) -> int | None:
        return None if self.team is None else self.team.pk

    @property
    def scope(self) -> str:
        return Board(self.board, self.team_id, self.series).scope

    @property
    def is_narrowed(self) -> bool:
        return bool(self.search or self.organization or self.license)

    def matches(self, model: ModelPayload) -> bool:
        words = " ".join((model["name"], model["organization"], model["id"])).lower()
        return (
            self.search.lower() in words
            and self.organization in ("", model["organization"])
            and self.license in ("", model["license"], model["license_kind"])
        )


class BoardHead(TypedDict):
    """BoardHeadPayload without its title."""

    board: str
    category: str | None
    snapshot: str | None
    computed_at: datetime | None
    next_due_at: datetime | None
    votes_counted: int
    votes_excluded: dict[str, int]
    models: int


def read_board(query: BoardQuery) -> LeaderboardPayload:
    """Return the board's newest snapshot, sorted and filtered. Raises NoSuchBoard.

    Overall exists before its first snapshot, without results.
    """
    run = newest_run(query.board, query.team, query.series)
    has_live = query.team is None and not query.series and counts_votes(query.board)
    live = figures_beside(run) if has_live else None
    board = board_payload(query.board, run, with_style_control=query.style_control, live=live)
    if live:
        board["collecting"] += _models_without_standing(board, live)
    elif query.team is not None and query.board == OVERALL:
        board["collecting"] += _models_without_votes(board, query.team)
    board["collecting"] = [line for line in board["collecting"] if query.matches(line["model"])]
    results = [line for line in board["results"] if query.matches(line["model"])]
    board["results"] = sort_results(results, sort_by=query.sort_by, order=query.order)
    return board


def newest_run(board: str, team: Team | None = None, series: str = "") -> AggregationRun | None:
    """Return None for Overall before its first snapshot. Raises NoSuchBoard.

    series: of a review whose board the reader may see.
    """
    if series:
        run = AggregationRun.objects.of_review(series).select_related("team").first()
        if run is None:
            raise NoSuchBoard
        return run
    place = Board.of(board, team)
    if team is not None and place.scope not in scopes_of_team(team.pk):
        raise NoSuchBoard
    run = AggregationRun.objects.snapshots(place.scope, place.team).first()
    if run is not None and team is not None:
        run.team = team
    if (run is None and board != OVERALL) or is_hidden(place.scope):
        raise NoSuchBoard
    return run


def board_payload(
    board: str, run: AggregationRun | None, *, with_style_control: bool = False, live: LiveFigures | None = None
) -> LeaderboardPayload:
    """Return unsorted results; `live` has the current Elo and adds new votes."""
    rows = read_standings(run) if run else []
    team_id = Board.parse(run.scope).team if run else None
    listed = [row for row in rows if row.standing.score is not None]
    has_style = run is not None and _has_style(run)
    with_style_control = with_style_control and has_style
    return {
        **board_head(board, run, models=len(listed)),
        "method": method_payload(run),
        "results": [
            standing_payload(
                row,
                with_style_control=with_style_control,
                elo=live.elo(board, row.standing.model_id) if live else None,
                new_votes=live.new_votes(board, row.standing.model_id) if live else None,
            )
            for row in listed
        ],
        "collecting": [
            {
                "model": row.model,
                "votes": row.standing.votes,
                "live_votes": row.standing.votes + live.new_votes(board, row.standing.model_id) if live else None,
                "elo": live.elo(board, row.standing.model_id) if live else row.standing.elo,
            }
            for row in rows
            if row.standing.score is None and row.standing.votes
        ],
        "title": board_title(board, team_id),
        "description": board_description(board, team_id),
        # Whether the scores are style-controlled; None if the board has no such scores.
        "style_control": with_style_control if has_style else None,
        "judges": _judges(run.facts) if run else None,
        "facts": shown_facts(run) if run else {},
        "live": live_payload(board, run, live) if live else None,
    }


def shown_facts(run: AggregationRun) -> JsonObject:
    return run.facts if run.team is None else facts_for_readers(run.facts, run.team.slug)


def _has_style(run: AggregationRun) -> bool:
    """Return whether any feature was estimated."""
    style = run.facts.get("style")
    return bool(style) and len(style["dropped"]) < len(style["coefficients"])


def _judges(facts: JsonObject) -> int | None:
    voters = round(facts.get("effective_voters") or 0)
    return voters if voters in (1, 2) else None


def _models_without_standing(board: LeaderboardPayload, live: LiveFigures) -> list[CollectingPayload]:
    """Return models whose votes are all new; on Overall also configured ones without votes.

    A configured model is listed even if its breaker is open (docs/adr/0029).
    """
    known = {line["model"]["id"] for line in (*board["results"], *board["collecting"])}
    voted = LanguageModel.objects.public().filter(pk__in=live.new.on(board["board"])).exclude(slug__in=known)
    models = {model.pk: model for model in voted}
    if board["board"] == OVERALL:
        models |= {model.pk: model for model in LanguageModel.objects.exclude(slug__in=known).configured()}
    lines: list[CollectingPayload] = [
        {
            "model": model_summary(model),
            "votes": 0,
            "live_votes": live.new_votes(board["board"], pk),
            "elo": live.elo(board["board"], pk),
        }
        for pk, model in models.items()
    ]
    return sorted(lines, key=lambda line: -(line["live_votes"] or 0))


def _models_without_votes(board: LeaderboardPayload, team: Team) -> list[CollectingPayload]:
    known = {line["model"]["id"] for line in (*board["results"], *board["collecting"])}
    models = LanguageModel.objects.in_place(team.pk).order_by("name", "version", "pk").configured()
    return [
        {"model": model_summary(model), "votes": 0, "live_votes": None, "elo": None}
        for model in models
        if model.full_slug not in known
    ]


def list_boards(team: Team | None = None) -> list[BoardPayload]:
    """Return boards in the order of `board_names`; four queries at most."""
    scored = Count("standings", filter=Q(standings__score__isnull=False))
    newest = newest_runs(team).listed()
    runs = {Board.parse(run.scope).name: run for run in newest}
    numbers = newest.annotate(listed=scored).values_list("scope", "listed")
    listed = {Board.parse(scope).name: number for scope, number in numbers}
    return [
        {**board_head(key, runs.get(key), models=listed.get(key, 0)), "title": title}
        for key, title in _sorted_titles(runs, team).items()
    ]


def board_names(*, shown: str = "", team: Team | None = None) -> dict[str, str]:
    listed = newest_runs(team).listed().values_list("scope", flat=True)
    return _sorted_titles({*(Board.parse(scope).name for scope in listed), shown} - {""}, team)


def newest_runs(team: Team | None) -> AggregationRunQuerySet:
    runs = AggregationRun.objects
    return runs.newest_of_each_board() if team is None else runs.newest_of(scopes_of_team(team.pk))


def _sorted_titles(boards: Iterable[str], team: Team | None) -> dict[str, str]:
    shown = {OVERALL, *(board for board in boards if not is_hidden(board))}
    titles = board_titles(shown, None if team is None else team.pk)
    return {key: titles[key] for key in sorted(titles, key=lambda key: (*board_order(key), titles[key]))}


def board_order(board: str) -> tuple[int, int]:
    """Return the place of the board's kind, and the place that administrators chose within it."""
    kinds = (OVERALL, "side-by-side", "auto", "compare", "category", "language", "imported")
    kind, chosen = Board(board).kind, listed_boards().get(board)
    return kinds.index(kind) if kind in kinds else len(kinds), chosen.position if chosen else LAST


def board_head(board: str, run: AggregationRun | None, *, models: int) -> BoardHead:
    kind = Board(board).kind
    return {
        "board": board,
        "category": Board(board).label if kind == "category" else None,
        "snapshot": run.public_id if run else None,
        "computed_at": run.finished_at if run else None,
        "next_due_at": None if kind in ("imported", "review") else schedule.next_due_at(timezone.now()),
        "votes_counted": run.votes_counted if run else 0,
        "votes_excluded": run.votes_excluded if run else {},
        "models": models,
    }


def method_payload(run: AggregationRun | None) -> MethodPayload:
    if run is None:
        return {
            "name": method.NAME,
            "parameters": method.parameters(),
            "parameters_hash": method.parameters_hash(),
        }
    return {"name": run.method, "parameters": run.parameters, "parameters_hash": run.parameters_hash}
