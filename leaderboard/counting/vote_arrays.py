from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from django.db.models import Model

from leaderboard.counting import stars
from leaderboard.counting.board_keys import ARE_OF_SITE, Board, votes_on
from leaderboard.counting.columns import Column, Integers, outcome_column, read_columns, read_columns_by
from leaderboard.counting.vote_log import last_counted, newest_order
from leaderboard.models import COMPARE, OVERALL
from leaderboard.rating.ballots import Ballots
from leaderboard.rating.bradley_terry import Floats, Indices
from leaderboard.rating.clustering import VoterVotes
from leaderboard.rating.context.covariates import CONTEXT, context_covariates
from leaderboard.rating.counts import Counts, count_votes
from leaderboard.rating.outcomes import OUTCOMES
from leaderboard.rating.style_control import FEATURES, style_features
from models_registry.models import LanguageModel

_PAIR = {"left": Column("left_id"), "right": Column("right_id"), "outcome": outcome_column("outcome"), "n": Column("n")}
VOTE_COLUMNS = {"left": Column("model_left_id"), "right": Column("model_right_id"), "outcome": outcome_column("choice")}
# 64 bits: among a million voters, two share a hash on one of 37 million boards.
VOTER_COLUMN = {"voter": Column("hashtextextended(voter, 0)", 8)}
_ORDER = {"order": Column('"order"', 8)}
_SIDES = ("left", "right")
# Columns for read_columns, of rows with a `style`.
STYLE_COLUMNS = {
    f"{side} {feature}": Column(f"COALESCE((style->'{side}'->>'{feature}')::int8, 0)", 8)
    for side in _SIDES
    for feature in FEATURES
}


def _left_minus_right(fact: str) -> Column:
    left, right = (f"(style->'context'->'{side}'->>'{fact}')::bool::int" for side in _SIDES)
    return Column(f"COALESCE({left} - {right}, 0)")


# Columns of CONTEXT, of rows of votes.
CONTEXT_COLUMNS = {
    "files": Column("COALESCE((style->'context'->>'files')::int, -1)"),
    "met": _left_minus_right("met"),
    "reasoning": _left_minus_right("reasoning"),
    "first_token_left": Column("COALESCE((style->'context'->'left'->>'first_token_ms')::int, -1)"),
    "first_token_right": Column("COALESCE((style->'context'->'right'->>'first_token_ms')::int, -1)"),
}


@dataclass(frozen=True)
class BoardVotes:
    """Counts of a board. models[i] belongs to counts.names[i], sorted.

    last_order: number of the last counted vote. last_star: of the star board only.
    """

    scope: str
    models: list[LanguageModel]
    counts: Counts
    last_order: int
    last_star: int = 0


def read_boards(*, last_order: int, last_star: int = 0) -> dict[str, BoardVotes]:
    """Return {scope: board} of the site's own boards with a counted vote; two queries.

    last_order: number of the last vote in the tallies.
    """
    return _read_boards(f"FROM leaderboard_pairtally WHERE n > 0 AND {ARE_OF_SITE}", {}, last_order, last_star)


def read_star_board(*, last_star: int) -> dict[str, BoardVotes]:
    """Return {scope: board} as read_boards does."""
    return _read_boards(f"FROM leaderboard_pairtally WHERE n > 0 AND scope = '{COMPARE}'", {}, 0, last_star)


def read_boards_of(scopes: Sequence[str], *, last_order: int) -> dict[str, BoardVotes]:
    """Return {scope: board} as read_boards does."""
    source = "FROM leaderboard_pairtally WHERE n > 0 AND scope = ANY(%(scopes)s)"
    return _read_boards(source, {"scopes": list(scopes)}, last_order, 0)


def _read_boards(
    source: str, parameters: Mapping[str, object], last_order: int, last_star: int
) -> dict[str, BoardVotes]:
    pairs = read_columns_by("scope", _PAIR, source, parameters)
    ids = {scope: contestant_ids(rows) for scope, rows in pairs.items()}
    models = LanguageModel.of_every_owner.in_bulk({model for board in ids.values() for model in board})
    boards = {
        scope: _board_votes(scope, [models[model] for model in ids[scope]], rows, last_order)
        for scope, rows in sorted(pairs.items())
    }
    if COMPARE in boards:
        boards[COMPARE] = replace(boards[COMPARE], last_star=last_star)
    return boards


def read_board(scope: str) -> BoardVotes:
    place = Board.parse(scope)
    if place.team is not None or place.series:
        last_order = newest_order()
        rows = read_log(replace(empty_board(scope), last_order=last_order), VOTE_COLUMNS)
        rows["n"] = np.ones(len(rows["left"]), dtype=np.int64)
        models = list(LanguageModel.of_every_owner.filter(pk__in=contestant_ids(rows)))
        return _board_votes(scope, models, rows, last_order)
    last_order = last_counted()
    rows = read_columns(_PAIR, "FROM leaderboard_pairtally WHERE n > 0 AND scope = %(scope)s", {"scope": scope})
    return _board_votes(scope, list(LanguageModel.of_every_owner.filter(pk__in=contestant_ids(rows))), rows, last_order)


def empty_board(scope: str) -> BoardVotes:
    return BoardVotes(scope, [], Counts.of_cells([], np.empty(0, dtype=np.int64)), last_order=0)


def _board_votes(scope: str, models: list[LanguageModel], rows: dict[str, Integers], last_order: int) -> BoardVotes:
    models = sorted(models, key=lambda model: model.contestant_name)
    left, right = (indices_of(rows[side], models) for side in ("left", "right"))
    names = [model.contestant_name for model in models]
    return BoardVotes(scope, models, count_votes(names, left, right, rows["outcome"], rows["n"]), last_order)


def read_voters(board: BoardVotes) -> VoterVotes:
    """Read votes by voter, in a fixed order: the last bit of floating-point sums depends on it."""
    if board.scope == OVERALL:
        source = "FROM leaderboard_voterpairtally WHERE scope = %(scope)s AND n > 0"
        rows = read_columns({**VOTER_COLUMN, **_PAIR}, source, {"scope": OVERALL}, numbered_by="id")
    else:
        rows = read_log(board, {**VOTER_COLUMN, **VOTE_COLUMNS})
        rows["n"] = np.ones(len(rows["voter"]), dtype=np.int64)
    left, right = (indices_of(rows[side], board.models) for side in ("left", "right"))
    voter = np.unique(rows["voter"], return_inverse=True)[1]
    models, outcomes = len(board.models), len(OUTCOMES)
    order = np.argsort(((voter * models + left) * models + right) * outcomes + rows["outcome"], kind="stable")
    return VoterVotes(voter[order], left[order], right[order], rows["outcome"][order], rows["n"][order])


def read_ballots(board: BoardVotes) -> Ballots:
    """Read single votes in the order of their numbers, with voter, style and context."""
    context = {} if Board.parse(board.scope).name == COMPARE else CONTEXT_COLUMNS
    rows = read_log(board, {**VOTER_COLUMN, **VOTE_COLUMNS, **STYLE_COLUMNS, **context, **_ORDER})
    order = np.argsort(rows["order"], kind="stable")
    rows = {name: column[order] for name, column in rows.items()}
    left, right = (indices_of(rows[side], board.models) for side in ("left", "right"))
    return Ballots(
        counts=board.counts,
        left=left,
        right=right,
        outcome=rows["outcome"].astype(np.int64),
        n=np.ones(len(left), dtype=np.int64),
        voter=np.unique(rows["voter"], return_inverse=True)[1],
        features=style_features_of(rows),
        context=context_covariates(*(rows[name] for name in CONTEXT)) if context else None,
    )


def read_log(board: BoardVotes, columns: dict[str, Column]) -> dict[str, Integers]:
    """Return {name: column} of the board's counted votes, in no particular order."""
    place = Board.parse(board.scope)
    if place.name == COMPARE:
        source = f"FROM ({stars.COMPARISONS}) AS vote"
        return read_columns(columns, source, {"last_star": board.last_star, "team": place.team})
    is_on_board, parameters = votes_on(board.scope)
    source = f"""FROM battles_vote WHERE excluded_reason = '' AND "order" <= %(last)s AND {is_on_board}"""
    return read_columns(columns, source, {**parameters, "last": board.last_order}, numbered_by='"order"')


def style_features_of(rows: Mapping[str, Integers]) -> Floats:
    """Return style features of shape (rows, features) from STYLE_COLUMNS."""
    return style_features(*(np.stack([rows[f"{side} {feature}"] for feature in FEATURES], axis=1) for side in _SIDES))


def indices_of(ids: Integers, among: Sequence[Model]) -> Indices:
    known = [row.pk for row in among]
    index_by_id = np.zeros(max(known, default=0) + 1, dtype=np.int64)
    index_by_id[known] = np.arange(len(known))
    indices: Indices = index_by_id[ids]
    return indices


def contestant_ids(rows: Mapping[str, Integers]) -> list[int]:
    """Return the distinct ids of both sides, in ascending order."""
    ids: list[int] = np.flatnonzero(np.bincount(np.concatenate([rows["left"], rows["right"]]))).tolist()
    return ids
