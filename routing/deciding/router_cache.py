"""The newest published router, and the models in the order of Overall, held in the process."""

import logging
from typing import NamedTuple

from common.cache import RefreshedCached
from leaderboard.models import OVERALL, AggregationRun, Standing
from routing.learning.router import Router, UnusableSnapshot
from routing.models import RouterSnapshot

logger = logging.getLogger(__name__)

# Interval of queries for a newer snapshot.
REFRESH_S = 10


class HeldRouter(NamedTuple):
    """router: None before the first training. ranking: ids of the models of Overall, best first."""

    snapshot: int
    router: Router | None
    board: int
    ranking: tuple[int, ...]

    @property
    def policy(self) -> str:
        return f"learned {self.snapshot}"


_held = HeldRouter(0, None, 0, ())


def _read() -> HeldRouter:
    global _held
    snapshot = RouterSnapshot.objects.published().values_list("pk", flat=True).first() or 0
    board = AggregationRun.objects.snapshots(OVERALL).values_list("pk", flat=True).first() or 0
    router = _held.router if snapshot == _held.snapshot else _load(snapshot)
    _held = HeldRouter(snapshot, router, board, _held.ranking if board == _held.board else _ranking(board))
    return _held


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
    global _held
    _held = HeldRouter(0, None, 0, ())
    held_router.invalidate()


held_router = RefreshedCached(_read, ttl_s=REFRESH_S)
