"""Live Elo and votes since the last run."""

from typing import NamedTuple

from common.cache import TTLCached
from common.db.replica import reads_replica
from leaderboard.counting import schedule
from leaderboard.counting.board_keys import has_live_elo
from leaderboard.counting.new_votes import NewVotes
from leaderboard.models import AggregationRun
from leaderboard.payload_types import LivePayload
from models_registry.models import LanguageModel

# Open boards move at most this often.
LIVE_INTERVAL_S = 2.0


class LiveModel(NamedTuple):
    """elo: None before the first vote on Overall; last: number of the vote that moved it."""

    slug: str
    elo: float | None
    last: int


class LiveFigures(NamedTuple):
    """models: by id."""

    new: NewVotes
    models: dict[int, LiveModel]

    def elo(self, board: str, model: int | None) -> float | None:
        return self.models[model].elo if model in self.models and has_live_elo(board) else None

    def new_votes(self, board: str, model: int | None) -> int:
        new = self.new.on(board).get(model or 0)
        return new.votes if new else 0

    def moved(self, board: str, *, after: int) -> dict[str, tuple[int, float | None]]:
        """Return {slug: (new votes on the board, live Elo)} after vote number `after`."""
        moved = {model for model, new in self.new.on(board).items() if new.last > after}
        if has_live_elo(board):
            moved |= {key for key, model in self.models.items() if model.last > after}
        return {
            self.models[key].slug: (self.new_votes(board, key), self.elo(board, key))
            for key in sorted(moved & self.models.keys())
        }


@reads_replica
def _load() -> LiveFigures:
    rows = LanguageModel.objects.order_by().values_list("pk", "slug", "elo__rating", "elo__last_order")
    # Numbers first: a vote between the two queries is sent again, not lost.
    new = NewVotes.read()
    return LiveFigures(new, {pk: LiveModel(slug, elo, new.number(last or 0)) for pk, slug, elo, last in rows})


# Shared by threads: treat it as read-only.
cached_figures = TTLCached(_load, ttl_s=LIVE_INTERVAL_S)


def figures_beside(run: AggregationRun | None) -> LiveFigures:
    """Return figures no older than this run."""
    figures = cached_figures()
    if run is not None and figures.new.after < run.last_order:
        cached_figures.invalidate()
        return cached_figures()
    return figures


def live_payload(board: str, run: AggregationRun | None, figures: LiveFigures) -> LivePayload:
    votes, new = run.votes_counted if run else 0, figures.new.total(board)
    return {
        "counted_until": figures.new.counted_until,
        "last_vote": figures.new.last,
        "new_votes": new,
        "next_run_votes": schedule.next_early_run(votes + new),
        "is_run_due": schedule.is_early_run_due(votes, new),
    }
