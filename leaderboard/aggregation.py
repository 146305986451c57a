"""Bringing the board up to date: count what is pending, fit, publish a snapshot.

A run is one transaction under one lock, and its row is written last. So a crash anywhere leaves nothing
behind, a second worker finds the lock or the slot taken, and a run that was killed blocks nobody.
"""

from datetime import datetime
from typing import Any

import numpy as np
from django.db import connection, transaction
from django.db.models import Count, Max

from battles.models import Vote
from leaderboard import method, schedule, tallies
from leaderboard.latency import median_first_token_ms
from leaderboard.models import OVERALL, AggregationRun, EloRating, Standing
from leaderboard.rating.board_fit import fit_board
from leaderboard.rating.elo import START
from leaderboard.rating.ranks import rank_board
from leaderboard.tallies import BoardTallies

State = AggregationRun.State


def aggregate_if_due() -> AggregationRun | None:
    """The run of the current slot, unless it has had one. It publishes only when something changed."""
    slot = schedule.slot_at(schedule.database_now())
    if AggregationRun.objects.filter(slot=slot).exists():
        return None
    return aggregate(slot=slot, only_if_changed=True)


def aggregate(*, slot: str, only_if_changed: bool = False) -> AggregationRun | None:
    """Count the pending votes and publish; None when this slot has had its run or another one is under way.

    An error is recorded as a failed run and raised again.
    """
    started_at = schedule.database_now()
    try:
        with transaction.atomic():
            if not tallies.try_to_lock() or AggregationRun.objects.filter(slot=slot).exists():
                return None
            _let_go_if_hung()
            return _publish(slot, started_at, only_if_changed=only_if_changed)
    except Exception as error:
        failed = _run(slot, State.FAILED, started_at, error=f"{type(error).__name__}: {error}"[:2000])
        AggregationRun.objects.bulk_create([failed], ignore_conflicts=True)
        raise


def _let_go_if_hung() -> None:
    """A worker that stands still in the middle loses its transaction, and with it the lock."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL idle_in_transaction_session_timeout = '120s'")


def _publish(slot: str, started_at: datetime, *, only_if_changed: bool) -> AggregationRun:
    taken = tallies.count_pending()
    board = tallies.read()
    facts = {
        "tallies_checksum": board.checksum,
        "last_order": _last_order(),
        "votes_counted": board.total,
        "votes_excluded": _votes_excluded(),
    }
    if only_if_changed and not _is_news(facts):
        run = _run(slot, State.UNCHANGED, started_at, votes_taken=taken, **facts)
        run.save(force_insert=True)
        return run
    lines = _standings(board)
    run = _run(slot, State.DONE, started_at, votes_taken=taken, **facts)
    run.save(force_insert=True)
    for line in lines:
        line.run = run
    Standing.objects.bulk_create(lines)
    return run


def _run(slot: str, state: str, started_at: datetime, **facts: Any) -> AggregationRun:
    finished_at = schedule.database_now()
    return AggregationRun(
        slot=slot,
        state=state,
        method=method.NAME,
        parameters=method.parameters(),
        parameters_hash=method.parameters_hash(),
        started_at=started_at,
        finished_at=finished_at,
        duration_ms=round((finished_at - started_at).total_seconds() * 1000),
        **facts,
    )


def _is_news(facts: dict[str, Any]) -> bool:
    newest = AggregationRun.objects.snapshots(OVERALL).first()
    if newest is None:
        return bool(facts["votes_counted"])
    same = ("tallies_checksum", "votes_excluded")
    return newest.parameters_hash != method.parameters_hash() or any(
        getattr(newest, name) != facts[name] for name in same
    )


def _last_order() -> int:
    taken = Vote.objects.exclude(processing=Vote.Processing.PENDING)
    return taken.aggregate(last=Max("order"))["last"] or 0


def _votes_excluded() -> dict[str, int]:
    aside = Vote.objects.exclude(excluded_reason="").exclude(processing=Vote.Processing.PENDING)
    return dict(aside.order_by("excluded_reason").values_list("excluded_reason").annotate(Count("pk")))


def _standings(board: BoardTallies) -> list[Standing]:
    """Every model's line, without its run."""
    fit = fit_board(
        board.wins,
        board.ties + board.both_bad,
        listed_from=method.parameters()["listed_from_votes"],
        established_from=method.parameters()["established_from_votes"],
        kappa=method.VIRTUAL_TIES,
        offset=method.OFFSET,
    )
    ranks = rank_board(fit)
    ids = [model.pk for model in board.models]
    elo = dict(EloRating.objects.filter(pk__in=ids).values_list("pk", "rating"))
    first_token = median_first_token_ms(ids)
    wins, losses = board.wins.sum(axis=1), board.wins.sum(axis=0)
    ties, both_bad = board.ties.sum(axis=1), board.both_bad.sum(axis=1)
    return [
        Standing(
            model=model,
            score=_stored(fit.score[i]),
            ci_low=_stored(fit.low[i]),
            ci_high=_stored(fit.high[i]),
            rank=int(ranks.rank[i]) or None,
            rank_best=int(ranks.best[i]) or None,
            rank_worst=int(ranks.worst[i]) or None,
            elo=elo.get(model.pk, START),
            votes=int(wins[i] + losses[i] + ties[i] + both_bad[i]),
            wins=int(wins[i]),
            losses=int(losses[i]),
            ties=int(ties[i]),
            both_bad=int(both_bad[i]),
            preliminary=bool(fit.preliminary[i]),
            median_first_token_ms=first_token.get(model.pk),
        )
        for i, model in enumerate(board.models)
    ]


def _stored(points: np.float64) -> float | None:
    """NaN (not listed) and infinity (no bound on this side) are null in the database."""
    return float(points) if np.isfinite(points) else None
