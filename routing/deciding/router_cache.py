"""The newest published router of each place, and the models in the order of its Overall, held in the process."""

import logging
from functools import lru_cache
from typing import NamedTuple

from common.cache import RefreshedCached
from leaderboard.counting.board_keys import Board
from leaderboard.models import OVERALL, AggregationRun, AggregationRunQuerySet, Standing
from routing.learning.router import Router, UnusableSnapshot
from routing.models import RouterSnapshot

logger = logging.getLogger(__name__)

# Places whose routers a process keeps: at most some megabytes each.
MAX_HELD = 32
# Interval of queries for a newer snapshot.
REFRESH_S = 10


class HeldRouter(NamedTuple):
    """router: None before the first training. ranking: ids of the models of the place's Overall, best first."""

    snapshot: int
    router: Router | None
    board: int
    ranking: tuple[int, ...]

    @property
    def policy(self) -> str:
        return f"learned {self.snapshot}"


_NOTHING = HeldRouter(0, None, 0, ())


class _Place:
    """Router and ranking of the site, or of a team that has them; read anew when there are newer ones."""

    def __init__(self, team_id: int | None) -> None:
        self.team_id = team_id
        self.held = _NOTHING
        self.cached = RefreshedCached(self._read, ttl_s=REFRESH_S)

    def _read(self) -> HeldRouter:
        of_place = RouterSnapshot.objects.in_place(self.team_id).published()
        snapshot = of_place.values_list("pk", flat=True).first() or 0
        board = overall_of_place(self.team_id).values_list("pk", flat=True).first() or 0
        held = self.held
        router = held.router if snapshot == held.snapshot else _load(snapshot)
        self.held = HeldRouter(snapshot, router, board, held.ranking if board == held.board else _ranking(board))
        return self.held


_of_place = lru_cache(maxsize=MAX_HELD)(_Place)


def held_router(team_id: int | None = None) -> HeldRouter:
    """Return the router of a team that was trained, else the site's; a team's ranking comes first."""
    of_site = _of_place(None).cached()
    if team_id is None:
        return of_site
    own = _of_place(team_id).cached()
    if own.router is None:
        own = own._replace(snapshot=of_site.snapshot, router=of_site.router)
    return own if own.board else own._replace(board=of_site.board, ranking=of_site.ranking)


def overall_of_place(team_id: int | None) -> AggregationRunQuerySet:
    """Return snapshots of Overall, the newest first."""
    return AggregationRun.objects.snapshots(Board(OVERALL, team_id).scope, team_id)


def _load(snapshot: int) -> Router | None:
    """Return None for no snapshot, and for one that this release cannot read."""
    if not snapshot:
        return None
    parameters = RouterSnapshot.objects.values_list("parameters", flat=True).get(pk=snapshot)
    try:
        return Router.from_bytes(bytes(parameters))
    except UnusableSnapshot as error:
        logger.warning("router snapshot %s is not used: %s", snapshot, error)
        return None


def _ranking(board: int) -> tuple[int, ...]:
    scored = Standing.objects.filter(run=board, score__isnull=False, model__isnull=False)
    return tuple(scored.order_by("group", "-score", "pk").values_list("model_id", flat=True))


def forget() -> None:
    """Read everything anew at the next call."""
    _of_place.cache_clear()
