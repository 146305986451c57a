from collections import Counter
from typing import NamedTuple

from django.db.models import Q

from battles.models import Battle, Vote
from leaderboard.counting.board_keys import counts_votes
from leaderboard.models import SIDE_BY_SIDE, AggregationRun

_TIES = (Vote.Choice.TIE, Vote.Choice.BOTH_BAD)


class DroppedVote(NamedTuple):
    """A vote and the slugs of its models."""

    pk: int
    order: int
    left: str
    right: str
    choice: str

    @property
    def kind(self) -> tuple[str, str, str]:
        return self.left, self.right, "tie" if self.choice in _TIES else self.choice


def dropped_votes(run: AggregationRun) -> list[DroppedVote]:
    """Return the votes without which another model would be first, oldest first; see votes_to_drop_first.

    Without those excluded since. Empty for boards of stars and imported votes.
    """
    # Votes for the same outcome between the same sides have the same effect: the newest are listed.
    drop = run.facts.get("drops_first")
    if not drop or not counts_votes(run.scope):
        return []
    missing = Counter({(kind["left"], kind["right"], kind["outcome"]): kind["votes"] for kind in drop["ballots"]})
    sides = Q()
    for left, right, _ in missing:
        sides |= Q(model_left__slug=left, model_right__slug=right)
    counted = Vote.objects.filter(sides, _on_board(run.scope), excluded_reason="", order__lte=run.last_order)
    columns = ("pk", "order", "model_left__slug", "model_right__slug", "choice")
    found = []
    for row in counted.order_by("-order").values_list(*columns).iterator():
        vote = DroppedVote(*row)
        if missing[vote.kind] > 0:
            missing[vote.kind] -= 1
            found.append(vote)
            if len(found) == drop["votes"]:
                break
    return found[::-1]


def _on_board(scope: str) -> Q:
    kind, _, name = scope.partition(":")
    if scope == SIDE_BY_SIDE:
        return Q(mode=Battle.Mode.SIDE_BY_SIDE)
    blind = Q(mode=Battle.Mode.BLIND)
    match kind:
        case "category":
            return blind & Q(categories__contains=[name])
        case "language":
            return blind & Q(language=name)
    return blind
