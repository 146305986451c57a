"""Votes of Overall with days and groups, for anomaly detection."""

from dataclasses import dataclass

import numpy as np
from django.db import connection

from leaderboard.counting.board_keys import Board
from leaderboard.counting.columns import Column, Integers, read_columns
from leaderboard.counting.vote_arrays import VOTE_COLUMNS, VOTER_COLUMN, BoardVotes, indices_of, read_log
from leaderboard.rating.anomalies.earlier_fits import TIE, Votes
from leaderboard.rating.anomalies.screening import DatedVotes
from leaderboard.rating.bradley_terry import Flags, Indices

_DAY = "floor(extract(epoch from {}) / 86400)"


@dataclass(frozen=True)
class OverallVotes:
    """Votes in the order of their numbers; outcome is an index in OUTCOMES."""

    dated: DatedVotes
    order: Integers
    outcome: Indices


def read_overall_votes(board: BoardVotes) -> OverallVotes:
    """Leave out votes of a team that are judged with the site's."""
    team = Board.parse(board.scope).team
    of_place = "on_site_boards" if team is None else "NOT on_site_boards AND team_id = %(team)s"
    columns = {
        **VOTER_COLUMN,
        **VOTE_COLUMNS,
        "order": Column('"order"', 8),
        "day": Column(_DAY.format("created_at")),
        "of_place": Column(f"({'on_site_boards' if team is None else 'NOT on_site_boards'})::int"),
    }
    rows = read_log(board, columns)
    rows = {name: column[rows["of_place"] == 1] for name, column in rows.items()}
    by_number = np.argsort(rows["order"], kind="stable")
    rows = {name: column[by_number] for name, column in rows.items()}
    left, right = (indices_of(rows[side], board.models) for side in ("left", "right"))
    outcome = rows["outcome"].astype(np.int64)
    voter = np.unique(rows["voter"], return_inverse=True)[1]
    # A vote's number may be a moment later than its time.
    day = np.maximum.accumulate(rows["day"])
    first = read_columns(
        {**VOTER_COLUMN, "day": Column(_DAY.format("first"))},
        f"FROM (SELECT voter, min(created_at) AS first FROM battles_vote WHERE {of_place} GROUP BY 1) AS voters",  # noqa: S608
        {"team": team},
    )
    invited = read_columns(
        {"voter": Column("hashtextextended('user:' || used_by_id, 0)", 8), "inviter": Column("created_by_id")},
        "FROM accounts_invitation WHERE used_by_id IS NOT NULL AND created_by_id IS NOT NULL",
        {},
    )
    networks = read_columns(
        {"order": Column('vote."order"', 8), "network": Column("hashtextextended(network, 0)", 8)},
        'FROM battles_votenetwork AS network JOIN battles_vote AS vote ON vote.id = vote_id AND vote."order" > 0',
        {},
    )
    networks["network"] = np.unique(networks["network"], return_inverse=True)[1]
    dated = DatedVotes(
        votes=Votes(voter, left, right, np.minimum(outcome, TIE)),
        day=day,
        first_day=_look_up(rows["voter"], first["voter"], first["day"]),
        network=_look_up(rows["order"], networks["order"], networks["network"]),
        inviter=_look_up(rows["voter"], invited["voter"], invited["inviter"]),
        accepted=_accepted(rows["voter"], rows["order"], team),
        accepted_of_group=_accepted_of_group(rows["order"]),
    )
    return OverallVotes(dated, rows["order"], outcome)


def _look_up(keys: Integers, known: Integers, values: Integers) -> Integers:
    """Return the value of each key, −1 without one."""
    order = np.argsort(known)
    index = np.searchsorted(known, keys, sorter=order)
    padded = np.append(order, -1)[np.minimum(index, len(order))]
    is_known = np.append(known, 0)[padded] == keys
    result: Integers = np.where(is_known & (padded >= 0), np.append(values, -1)[padded], -1)
    return result


def _accepted(voter: Integers, order: Integers, team: int | None) -> Flags:
    """Return which votes dismissed reviews of their voter cover."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT hashtextextended(voter, 0), max(last_order) FROM leaderboard_anomalyreview "
            "WHERE state = 'dismissed' AND \"group\" = '' AND team_id IS NOT DISTINCT FROM %s GROUP BY 1",
            [team],
        )
        dismissed = np.array(cursor.fetchall(), dtype=np.int64).reshape(-1, 2)
    accepted: Flags = order <= _look_up(voter, dismissed[:, 0], dismissed[:, 1])
    return accepted


def _accepted_of_group(order: Integers) -> Flags:
    """Return which votes were in dismissed reviews of groups."""
    dismissed = read_columns(
        {"order": Column("number", 8)},
        "FROM leaderboard_anomalyreview CROSS JOIN unnest(orders) AS number "
        "WHERE state = 'dismissed' AND \"group\" <> ''",
        {},
    )
    return np.isin(order, dismissed["order"])
