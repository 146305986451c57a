"""Copies of boards' tallies, one value per board.

Later votes are added from the log. A copy is not used after a change of a vote that it contains.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from leaderboard.counting.board_keys import ON_OVERALL, board_keys, counts_votes
from leaderboard.counting.columns import Integers, read_columns, read_columns_by
from leaderboard.counting.vote_arrays import VOTE_COLUMNS, BoardVotes, contestant_ids, indices_of
from leaderboard.models import OVERALL, TallyCopy, VoteChange
from leaderboard.rating.bradley_terry import Indices
from leaderboard.rating.counts import Counts
from leaderboard.rating.outcomes import OUTCOMES
from models_registry.models import LanguageModel

# A copy is read in one query; reading the rows of a large arena takes half a second.
# Share of the log's votes that must be new before a copy is renewed.
RENEWED_AFTER = 0.05
_CELLS = np.dtype("<i4")


def read_copied_boards(*, until: int) -> dict[str, BoardVotes] | None:
    """Return {scope: board} of boards that count votes, with votes up to `until`; None without a valid copy.

    Needs the lock of the tallies.
    """
    copies = {copy.scope: copy for copy in TallyCopy.objects.all()}
    copied_until = _last_order(copies.values())
    if copied_until is None or copied_until > until:
        return None
    added = _votes_by_board(after=copied_until, until=until)
    ids = {
        scope: {*(copies[scope].contestants if scope in copies else ()), *contestant_ids(added[scope])}
        for scope in sorted({*copies, *added})
    }
    models = LanguageModel.of_every_owner.in_bulk({model for board in ids.values() for model in board})
    return {
        scope: _board_votes(scope, [models[model] for model in board], copies.get(scope), added[scope], until)
        for scope, board in ids.items()
    }


def read_copied_overall(*, until: int) -> BoardVotes | None:
    """Return Overall with votes up to `until`, None without a valid copy. Needs no lock: a copy is one row."""
    copy = TallyCopy.objects.filter(scope=OVERALL).first()
    if copy is None or copy.last_order > until or _last_order([copy]) is None:
        return None
    added = read_columns(
        VOTE_COLUMNS,
        f"""FROM battles_vote WHERE excluded_reason = '' AND {ON_OVERALL}
        AND "order" > %(after)s AND "order" <= %(until)s""",
        {"after": copy.last_order, "until": until},
    )
    ids = {*copy.contestants, *contestant_ids(added)}
    models = LanguageModel.of_every_owner.in_bulk(ids)
    return _board_votes(OVERALL, list(models.values()), copy, added, until)


def renew_copies(boards: Iterable[BoardVotes], *, last_order: int, last_change: int) -> None:
    """Store copies unless valid ones have nearly all votes. Needs the lock of the tallies."""
    copied_until = _last_order(TallyCopy.objects.defer("cells"))
    if copied_until is not None and last_order - copied_until <= RENEWED_AFTER * last_order:
        return
    TallyCopy.objects.all().delete()
    TallyCopy.objects.bulk_create(
        TallyCopy(
            scope=board.scope,
            last_order=last_order,
            last_change=last_change,
            contestants=[model.pk for model in board.models],
            cells=_pack(board.counts),
        )
        for board in boards
        if counts_votes(board.scope) and board.models
    )


def _last_order(copies: Iterable[TallyCopy]) -> int | None:
    """Return the last vote's number; None if the copies are not valid."""
    copy = next(iter(copies), None)
    if copy is None:
        return None
    changes = VoteChange.objects.filter(
        number__gt=copy.last_change, vote__order__lte=copy.last_order, vote__on_site_boards=True
    )
    return None if changes.exclude(kind=VoteChange.Kind.RENAMED).exists() else copy.last_order


def _pack(counts: Counts) -> bytes:
    return np.stack(counts.cells).astype(_CELLS).tobytes()


def _votes_by_board(*, after: int, until: int) -> Mapping[str, dict[str, Integers]]:
    """Return {scope: VOTE_COLUMNS} of counted votes with numbers in (after, until]."""
    source = """
        FROM battles_vote WHERE excluded_reason = '' AND on_site_boards AND "order" > %(after)s AND "order" <= %(until)s
    """
    # Equal labels are read together: far fewer combinations than votes.
    labels = "json_build_array(mode, origin, categories, language)::text"
    parts: dict[str, list[dict[str, Integers]]] = defaultdict(list)
    for label, votes in read_columns_by(labels, VOTE_COLUMNS, source, {"after": after, "until": until}).items():
        for scope in board_keys(*json.loads(label)):
            parts[scope].append(votes)
    none = {name: np.empty(0, dtype=np.int64) for name in VOTE_COLUMNS}
    return defaultdict(
        lambda: none,
        {
            scope: {name: np.concatenate([votes[name] for votes in of_board]) for name in VOTE_COLUMNS}
            for scope, of_board in parts.items()
        },
    )


def _board_votes(
    scope: str, models: list[LanguageModel], copy: TallyCopy | None, added: Mapping[str, Integers], last_order: int
) -> BoardVotes:
    models = sorted(models, key=lambda model: model.slug)
    left, right = (indices_of(added[side], models) for side in ("left", "right"))
    cells = (added["outcome"] * len(models) + left) * len(models) + right
    counts = Counts.of_cells([model.slug for model in models], cells)
    if copy is not None:
        copied, n = np.frombuffer(copy.cells, _CELLS).reshape(2, -1).astype(np.int64)
        counts = counts.with_cells(_renumbered(copied, copy.contestants, models), n)
    return BoardVotes(scope, models, counts, last_order)


def _renumbered(cells: Indices, contestants: Sequence[int], models: Sequence[LanguageModel]) -> Indices:
    """Return cells of an array for `contestants` as cells of one for `models`."""
    if [model.pk for model in models] == list(contestants):
        return cells
    index, size = indices_of(np.array(contestants), models), len(contestants)
    outcome, left, right = np.unravel_index(cells, (len(OUTCOMES), size, size))
    return np.ravel_multi_index((outcome, index[left], index[right]), (len(OUTCOMES), len(models), len(models)))
