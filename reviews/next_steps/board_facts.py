"""Facts about a board, from its payload alone: the board's page makes no query for them."""

from collections.abc import Iterator, Sequence

from leaderboard.boards.head_to_head import difference_variances
from leaderboard.boards.standings import model_label
from leaderboard.payload_types import LeaderboardPayload, ResultPayload
from leaderboard.rating.differences import growth_until_significant, more_votes
from reviews.next_steps.rules import Contrast, Dominated, Facts

# A board may have hundreds of models; people ask about the first ones.
FIRST_LINES = 20


def board_facts(board: LeaderboardPayload) -> Facts:
    """Return the facts of the board's largest group of comparable models."""
    lines = [line for line in board["results"] if line["group"] == 0 and line["score"] is not None]
    lines.sort(key=lambda line: -(line["score"] or 0.0))
    return Facts(
        contrasts=list(_open_contrasts(board, lines)),
        dominated=list(_dominated(board["board"], [line for line in lines if line["tier"] is not None])),
    )


def _open_contrasts(board: LeaderboardPayload, lines: list[ResultPayload]) -> Iterator[Contrast]:
    variances = difference_variances(lines)
    first = [line for line in lines if not line["preliminary"] and line["model"]["id"] in variances][:FIRST_LINES]
    for place, better in enumerate(first):
        for worse in first[place + 1 :]:
            one, other = better["model"]["id"], worse["model"]["id"]
            difference = (better["score"] or 0.0) - (worse["score"] or 0.0)
            more = more_votes(
                growth_until_significant(difference, variances[one] + variances[other]), board["votes_counted"]
            )
            if more:
                labels = model_label(better["model"]), model_label(worse["model"])
                yield Contrast(*labels, more, "votes", board["board"], (one, other), so_far=board["votes_counted"])


def _dominated(board: str, lines: Sequence[ResultPayload]) -> Iterator[Dominated]:
    """Yield each winner with the models of later tiers that cost no less per token, and more of one kind."""
    beaten: dict[str, list[ResultPayload]] = {}
    winners: dict[str, ResultPayload] = {}
    front: list[tuple[int, float, float, ResultPayload]] = []
    for line in sorted(lines, key=lambda line: (line["tier"] or 0, -(line["score"] or 0.0))):
        prices, tier = _prices(line), line["tier"] or 0
        if prices is None:
            continue
        for earlier, read, written, winner in front:
            if earlier < tier and read <= prices[0] and written <= prices[1] and (read, written) != prices:
                winners[winner["model"]["id"]] = winner
                beaten.setdefault(winner["model"]["id"], []).append(line)
                break
        else:
            front.append((tier, *prices, line))
    for key, losers in beaten.items():
        labels = tuple(model_label(line["model"]) for line in losers)
        yield Dominated(model_label(winners[key]["model"]), labels, board, (key, losers[0]["model"]["id"]))


def _prices(line: ResultPayload) -> tuple[float, float] | None:
    read, written = line["model"]["price_input"], line["model"]["price_output"]
    return None if read is None or written is None else (float(read), float(written))
