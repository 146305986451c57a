from collections.abc import Iterator

import msgspec

from leaderboard.export_rows import Style, VoteRow
from leaderboard.exports.votes import BATCH, ExportRange, new_pseudonyms
from leaderboard.models import ImportedVote
from leaderboard.models.imported import SCOPE

_FIELDS = (
    "order", "voter", "left__name", "right__name", "outcome", "created_at", "category", "style", "n",
)  # fmt: skip


def batches(export_range: ExportRange) -> Iterator[list[VoteRow]]:
    """Yield rows as leaderboard.exports.votes.batches. export_range.last_change: the snapshot's edition."""
    pseudonym = new_pseudonyms()
    edition = ImportedVote.objects.filter(
        board__slug=export_range.scope.removeprefix(SCOPE), edition=export_range.last_change
    )
    votes, after = edition.order_by("order"), 0
    while batch := list(votes.filter(order__gt=after).values_list(*_FIELDS)[:BATCH]):
        after = batch[-1][0]
        yield [
            VoteRow(
                order=order,
                voter=pseudonym(voter) if voter else "",
                model_left=left,
                model_right=right,
                choice=outcome,
                created_at=created_at,
                board=export_range.scope,
                categories=[category] if category else [],
                language="und",
                turn_count=1,
                style=None if style is None else msgspec.convert(style, Style),
                excluded_reason=None,
                excluded_at=None,
                n=n,
                origin=None,
            )
            for order, voter, left, right, outcome, created_at, category, style, n in batch
        ]
