import random
from collections import Counter

from django.db.models import QuerySet

from battles.models import Vote
from leaderboard.aggregation import job
from leaderboard.counting import schedule, tallies
from leaderboard.counting.board_keys import board_keys
from leaderboard.counting.tally_copies import read_copied_boards
from leaderboard.counting.vote_arrays import BoardVotes, read_boards
from leaderboard.counting.vote_log import last_counted
from leaderboard.models import AggregationRun, EloRating, PairTally, Standing, VoterPairTally
from leaderboard.rating.outcomes import OUTCOMES
from models_registry.models import LanguageModel
from tests.leaderboard.vote_factory import ballot, cast_all, contestants


def aggregate() -> AggregationRun:
    """Count the pending votes and publish; return Overall's run."""
    run = job.aggregate(slot=schedule.new_slot())
    assert run is not None
    return run


def aggregate_and_read_results() -> dict[str, object]:
    aggregate()
    columns = ("left__slug", "right__slug", "outcome", "n")
    figures = ("score", "ci_low", "ci_high", "rank", "votes", "style_score", "design_effect")
    return {
        "pairs": set(PairTally.objects.filter(n__gt=0).values_list("scope", *columns)),
        "voters": set(VoterPairTally.objects.filter(n__gt=0).values_list("voter", *columns)),
        "checksums": {board.scope: board.tallies_checksum for board in AggregationRun.objects.newest_of_each_board()},
        "standings": set(newest_standings().values_list("run__scope", "model__slug", *figures)),
        "elo": set(EloRating.objects.values_list("model__slug", "rating", "votes")),
    }


def assert_tallies_match_votes() -> None:
    last = last_counted()
    counted = Vote.objects.filter(excluded_reason="", order__lte=last)
    filed = Counter(
        scope for vote in counted for scope in board_keys(vote.mode, vote.origin, vote.categories, vote.language)
    )
    boards = read_boards(last_order=last)
    assert {scope: board.counts.total for scope, board in boards.items()} == filed
    copied = read_copied_boards(until=last)
    assert copied is None or checksums(copied) == checksums(boards)
    assert sum(VoterPairTally.objects.values_list("n", flat=True)) == filed["overall"]
    assert filed["overall"] + filed["side-by-side"] + filed["auto"] == counted.count()
    assert sum(n for scope, n in filed.items() if scope.startswith("language:")) == filed["overall"]
    assert tallies.rebuild() == 0


def checksums(boards: dict[str, BoardVotes]) -> dict[str, str]:
    return {scope: board.counts.checksum for scope, board in boards.items()}


def newest_standings() -> QuerySet[Standing]:
    return Standing.objects.filter(run__in=AggregationRun.objects.newest_of_each_board())


def cast_random_votes(number: int) -> None:
    """Cast votes of nine voters without accounts on four models, a quarter side by side, a quarter on pairs
    of auto mode and a tenth excluded."""
    rng = random.Random(number)
    models = list(LanguageModel.objects.order_by("slug")) or contestants("a", "b", "c", "d")
    ballots = []
    for _ in range(number):
        left, right = rng.sample(models, 2)
        reason = "identity_leak" if rng.random() < 0.1 else ""
        ballots.append(
            ballot(
                left, right, rng.choice(OUTCOMES), voter=f"user:{1_000_000 + rng.randrange(9)}", excluded=reason,
                categories=rng.choice([[], ["coding"], ["coding", "maths"]]),
                language=rng.choice(["en", "fr", "und"]),
                mode=rng.choice(["blind", "blind", "blind", "side_by_side"]),
                origin=rng.choice(["draw", "draw", "draw", "router"]),
                style={side: {"tokens": rng.randrange(90), "bold": rng.randrange(3)} for side in ("left", "right")},
            )
        )  # fmt: skip
    cast_all(ballots)
