from datetime import datetime
from functools import partial

from django.db import connection, transaction

from leaderboard.aggregation import sampling_plan
from leaderboard.aggregation.fit_boards import FittedBoard, RunFacts, has_stale_parts
from leaderboard.counting import method, schedule
from leaderboard.counting.board_keys import Board
from leaderboard.counting.revealed_calls import count_newly_revealed
from leaderboard.models import COMPARE, OVERALL, AggregationRun, Standing
from leaderboard.notify import notify_new_snapshot

State = AggregationRun.State


def configure_transaction() -> None:
    """Suit the queries to many votes, and make a stalled worker release the lock."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL work_mem = '128MB'")
        cursor.execute("SET LOCAL enable_memoize = off")  # nearly every vote has labels of its own
        cursor.execute("SET LOCAL idle_in_transaction_session_timeout = '120s'")


def store(fitted: list[FittedBoard]) -> None:
    finished_at = schedule.database_now()
    for board in fitted:
        board.run.finish(finished_at)
        board.run.save(force_insert=True)
        if board.plan is not None:
            sampling_plan.store(board.plan, board.run)
    _copy_standings(fitted)
    scopes = [board.run.scope for board in fitted if board.run.state == State.DONE]
    for scope in scopes:
        transaction.on_commit(partial(notify_new_snapshot, scope))
    if any(board.run.scope == OVERALL and board.run.state != State.FAILED for board in fitted):
        transaction.on_commit(count_newly_revealed)


def _copy_standings(fitted: list[FittedBoard]) -> None:
    """Insert with COPY: bulk_create prepares each value on its own."""
    fields = [field for field in Standing._meta.concrete_fields if not field.primary_key]
    table, columns = connection.ops.quote_name(Standing._meta.db_table), ", ".join(f'"{f.column}"' for f in fields)
    with connection.cursor() as cursor, cursor.copy(f"COPY {table} ({columns}) FROM STDIN") as copy:
        for board in fitted:
            defaults = {field.attname: field.get_default() for field in fields} | {"run_id": board.run.pk}
            for standing in board.standings:
                copy.write_row(list((defaults | standing).values()))


def votes_since(earlier: AggregationRun | None, facts: RunFacts) -> int:
    """Return the board's votes since its last snapshot, excluded ones too."""
    before = earlier.votes_counted + sum(earlier.votes_excluded.values()) if earlier else 0
    now: int = facts["votes_counted"] + sum(facts["votes_excluded"].values())
    return max(0, now - before)


def has_changed(facts: RunFacts, earlier: AggregationRun | None, *, now: datetime) -> bool:
    if earlier is None:
        return bool(facts["votes_counted"])
    compared = ["tallies_checksum", "votes_excluded"]
    if Board.parse(earlier.scope).name == COMPARE:
        compared.append("last_change")  # a star can change the means and no comparison
    return (
        any(getattr(earlier, name) != facts.get(name) for name in compared)
        or earlier.parameters_hash != method.parameters_hash()
        or has_stale_parts(earlier, now=now)
    )
