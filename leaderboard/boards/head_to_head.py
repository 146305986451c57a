from collections.abc import Iterable

from accounts.models import Team
from leaderboard.boards.queries import BoardQuery, newest_runs, read_board
from leaderboard.boards.titles import board_titles
from leaderboard.counting.board_keys import Board
from leaderboard.counting.pairs import Meetings, meetings_by_board
from leaderboard.models import OVERALL
from leaderboard.payload_types import (
    HeadToHeadPayload,
    LeaderboardPayload,
    MeetingsPayload,
    ResultPayload,
    SeparationPayload,
    SharePayload,
)
from leaderboard.rating.differences import (
    expected_share,
    growth_until_significant,
    middle_half_of_growth,
    more_votes,
    observed_share,
    variances_of_differences,
)
from models_registry.models import LanguageModel
from models_registry.payloads import model_summary


def read_head_to_head(first: LanguageModel, second: LanguageModel, team: Team | None = None) -> HeadToHeadPayload:
    """Return results on Overall and by board, with the expected share and the separation of the scores.

    separation: whether the 95 % interval of the difference excludes 0, and how many more votes on Overall that would
    take; None without two-sided intervals.
    """
    overall = Board.of(OVERALL, team).scope
    boards = list(newest_runs(team).values_list("scope", flat=True))
    by_scope = meetings_by_board([overall, *boards], first.pk, second.pk)
    met = {Board.parse(scope).name: pair for scope, pair in by_scope.items()}
    board = read_board(BoardQuery(team=team))
    expected, separation = _compare(board, first.full_slug, second.full_slug)
    titles = board_titles(sorted(met), None if team is None else team.pk)
    return {
        "a": model_summary(first),
        "b": model_summary(second),
        "snapshot": board["snapshot"],
        **_counts(met.get(OVERALL)),
        "expected": expected,
        "separation": separation,
        "boards": [
            {"board": key, "title": titles[key], **_counts(met[key])}
            for key in sorted(met, key=lambda key: -met[key].votes)
            if key != OVERALL
        ],
    }


def _counts(met: Meetings | None) -> MeetingsPayload:
    if met is None:
        return {"votes": 0, "wins_a": 0, "wins_b": 0, "ties": 0, "both_bad": 0, "observed": None}
    share = observed_share(met.share_a * met.votes, met.votes)
    return {
        "votes": met.votes,
        "wins_a": met.wins_a,
        "wins_b": met.wins_b,
        "ties": met.ties,
        "both_bad": met.both_bad,
        "observed": {"share_a": share.share, "ci_low": share.low, "ci_high": share.high},
    }


def _compare(board: LeaderboardPayload, a: str, b: str) -> tuple[SharePayload, SeparationPayload] | tuple[None, None]:
    lines = {line["model"]["id"]: line for line in board["results"]}
    if a not in lines or b not in lines or lines[a]["group"] != lines[b]["group"]:
        return None, None
    variances = difference_variances([line for line in board["results"] if line["group"] == lines[a]["group"]])
    if a not in variances or b not in variances:
        return None, None
    score, other_score = lines[a]["score"], lines[b]["score"]
    if score is None or other_score is None:
        return None, None
    difference, variance = score - other_score, variances[a] + variances[b]
    share = expected_share(difference, variance)
    growth = growth_until_significant(difference, variance)
    few, many = middle_half_of_growth(difference, variance) if variance else (growth, growth)
    expected: SharePayload = {"share_a": share.share, "ci_low": share.low, "ci_high": share.high}
    separation: SeparationPayload = {
        "apart": growth <= 1,
        "difference": difference,
        "more_votes": more_votes(growth, board["votes_counted"]),
        "more_votes_low": 0 if growth <= 1 else more_votes(few, board["votes_counted"]),
        "more_votes_high": 0 if growth <= 1 else more_votes(many, board["votes_counted"]),
    }
    return expected, separation


def difference_variances(lines: Iterable[ResultPayload]) -> dict[str, float]:
    """Return the variances of lines of one group by model id."""
    return variances_of_differences(
        (line["model"]["id"], line["ci_low"], line["ci_high"], line["preliminary"]) for line in lines
    )
