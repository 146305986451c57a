"""Reading a board: its newest snapshot in the API's words, the same for pages, files and API."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TypedDict

from django.db.models import Count, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from common.errors import InvalidInput
from leaderboard.boards.standings import ORDERS, SORTS, in_order, live_elo, read_standings, result_line
from leaderboard.boards.titles import description_of, title_of, titles_of
from leaderboard.counting import method, schedule
from leaderboard.counting.board_keys import is_blind
from leaderboard.errors import NoSuchBoard
from leaderboard.models import OVERALL, AggregationRun
from leaderboard.payload_types import BoardPayload, CollectingPayload, LeaderboardPayload, MethodPayload
from models_registry.models import LanguageModel
from models_registry.payload_types import ModelPayload
from models_registry.payloads import model_summary

_YES = ("1", "true", "on", "yes")
_TEXTS = ("board", "sort_by", "order", "search", "organization", "license")


@dataclass(frozen=True)
class BoardQuery:
    """What somebody wants to see of a board."""

    board: str = OVERALL
    sort_by: str = "score"
    order: str = "desc"
    search: str = ""
    organization: str = ""
    license: str = ""
    style_control: bool = False

    @classmethod
    def read(cls, given: Mapping[str, str]) -> "BoardQuery":
        """From a URL's parameters; others are ignored. Raises InvalidInput."""
        named = {name: text for name in _TEXTS if (text := given.get(name, "").replace("\x00", "").strip())}
        for short in ("category", "language"):
            if given.get(short):
                named.setdefault("board", f"{short}:{given[short]}")
        query = cls(**named, style_control=given.get("style_control", "").lower() in _YES)
        fields = {
            name: [_("Choose one of: %(choices)s.") % {"choices": ", ".join(choices)}]
            for name, choices in (("sort_by", SORTS), ("order", ORDERS))
            if getattr(query, name) not in choices
        }
        if fields:
            raise InvalidInput(fields=fields)
        return query

    @property
    def is_narrowed(self) -> bool:
        return bool(self.search or self.organization or self.license)

    def wants(self, model: ModelPayload) -> bool:
        words = " ".join((model["name"], model["organization"], model["id"])).lower()
        return (
            self.search.lower() in words
            and self.organization in ("", model["organization"])
            and self.license in ("", model["license"], model["license_kind"])
        )


class Heading(TypedDict):
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
    """The API's Leaderboard object; Overall without a snapshot has no results but says when one is due.

    Raises NoSuchBoard.
    """
    run = AggregationRun.objects.snapshots(query.board).first()
    if run is None and query.board != OVERALL:
        raise NoSuchBoard
    board = board_object(query.board, run, with_style_control=query.style_control, live=True)
    if query.board == OVERALL:
        board["collecting"] += _newcomers(board)
    board["collecting"] = [line for line in board["collecting"] if query.wants(line["model"])]
    wanted = [line for line in board["results"] if query.wants(line["model"])]
    board["results"] = in_order(wanted, sort_by=query.sort_by, order=query.order)
    return board


def board_object(
    board: str, run: AggregationRun | None, *, with_style_control: bool = False, live: bool = False
) -> LeaderboardPayload:
    """A snapshot with its lines in no particular order; `live` puts the Elo of now in place of the snapshot's."""
    stood = read_standings(run) if run else []
    listed = [one for one in stood if one.standing.score is not None]
    elo = live_elo(listed) if live and is_blind(board) else {}
    has_style = run is not None and _has_style(run)
    with_style_control = with_style_control and has_style
    return {
        **heading(board, run, models=len(listed)),
        "method": describe_method(run),
        "results": [
            result_line(one, with_style_control=with_style_control, elo=elo.get(one.standing.model_id))
            for one in listed
        ],
        "collecting": [
            {"model": one.model, "votes": one.standing.votes}
            for one in stood
            if one.standing.score is None and one.standing.votes
        ],
        "title": title_of(board),
        "description": description_of(board),
        # Whether it is applied; None while this board has none.
        "style_control": with_style_control if has_style else None,
        "facts": run.facts if run else {},
    }


def _has_style(run: AggregationRun) -> bool:
    """Whether scores with style taken out are known, and some of it was to be taken out."""
    style = run.facts.get("style")
    return bool(style) and len(style["dropped"]) < len(style["coefficients"])


def _newcomers(board: LeaderboardPayload) -> list[CollectingPayload]:
    """Whoever is set up and has no vote yet is waiting too, also while a breaker keeps it from being drawn."""
    known = {line["model"]["id"] for line in (*board["results"], *board["collecting"])}
    models = LanguageModel.objects.exclude(slug__in=known).configured()
    return [{"model": model_summary(model), "votes": 0} for model in models]


def list_boards() -> list[BoardPayload]:
    """Boards that exist, with counts, in the order of `board_names`.

    As many queries however many there are: four at most.
    """
    scored = Count("standings", filter=Q(standings__score__isnull=False))
    newest = AggregationRun.objects.newest_of_each_board()
    runs = {run.scope: run for run in newest}
    listed = dict(newest.annotate(listed=scored).values_list("scope", "listed"))
    return [
        {**heading(key, runs.get(key), models=listed.get(key, 0)), "title": title}
        for key, title in _in_order(runs).items()
    ]


def board_names() -> dict[str, str]:
    """{key: title} of the boards that exist: Overall, the other ways to battle, categories, languages, imports."""
    return _in_order(AggregationRun.objects.newest_of_each_board().values_list("scope", flat=True))


def _in_order(boards: Iterable[str]) -> dict[str, str]:
    titles = titles_of({OVERALL, *boards})
    return {key: titles[key] for key in sorted(titles, key=lambda key: (kind_order(key), titles[key]))}


def kind_order(board: str) -> int:
    kinds = (OVERALL, "side-by-side", "compare", "category", "language", "imported")
    kind = board.partition(":")[0]
    return kinds.index(kind) if kind in kinds else len(kinds)


def heading(board: str, run: AggregationRun | None, *, models: int) -> Heading:
    kind, _, name = board.partition(":")
    return {
        "board": board,
        "category": name if kind == "category" else None,
        "snapshot": run.public_id if run else None,
        "computed_at": run.finished_at if run else None,
        "next_due_at": None if kind == "imported" else schedule.next_due_at(timezone.now()),
        "votes_counted": run.votes_counted if run else 0,
        "votes_excluded": run.votes_excluded if run else {},
        "models": models,
    }


def describe_method(run: AggregationRun | None) -> MethodPayload:
    if run is None:
        return {
            "name": method.NAME,
            "parameters": method.parameters(),
            "parameters_hash": method.parameters_hash(),
        }
    return {"name": run.method, "parameters": run.parameters, "parameters_hash": run.parameters_hash}
