from collections.abc import Iterable
from typing import Literal, TypedDict

from battles.models import Vote
from battles.payload_types import AnswerPayload, BattlePayload
from leaderboard.counting.live_elo import LEFT_SHARE
from leaderboard.models import OVERALL, AggregationRun, EloRating, Standing
from leaderboard.models.elo_settings import elo_settings
from leaderboard.rating import elo


class PlaceNumbers(TypedDict):
    score: float | None
    rank: int | None
    preliminary: bool | None
    elo: float | None
    elo_change: float | None


UNKNOWN_PLACE: PlaceNumbers = {"score": None, "rank": None, "preliminary": None, "elo": None, "elo_change": None}


class AnswerTotals(TypedDict):
    tokens: int | None
    first_ms: int | None
    total_ms: int | None


# Places by battle id and side.
Places = dict[tuple[str, str], PlaceNumbers]


def battle_places(battles: Iterable[BattlePayload]) -> Places:
    """Return current places on Overall for battles with a vote; three queries, none without votes.

    elo_change: change by the battle's own vote; None once a later vote has moved either model.
    """
    voted = {battle["id"]: battle for battle in battles if battle["vote"]}
    slugs = {side["model"]["id"] for battle in voted.values() for side in battle["sides"] or ()}
    if not slugs:
        return {}
    newest = AggregationRun.objects.snapshots(OVERALL).values("pk")[:1]
    lines = Standing.objects.filter(run=newest, model__slug__in=slugs)
    rows = lines.values_list("model__slug", "score", "rank", "preliminary")
    standings: dict[str, PlaceNumbers] = {
        slug: {**UNKNOWN_PLACE, "score": score, "rank": rank, "preliminary": early} for slug, score, rank, early in rows
    }
    elo_ratings = EloRating.objects.filter(model__slug__in=slugs).select_related("model")
    ratings = {rating.model.slug: rating for rating in elo_ratings}
    orders = dict(Vote.objects.filter(battle__public_id__in=voted).values_list("battle__public_id", "order"))
    places: Places = {}
    for public_id, battle in voted.items():
        vote, sides = battle["vote"], battle["sides"]
        if vote is None or sides is None:
            continue
        side_ratings = [ratings.get(side["model"]["id"]) for side in sides]
        changes = _elo_changes(side_ratings, orders[public_id], vote["choice"])
        for side, rating, change in zip(sides, side_ratings, changes, strict=True):
            places[public_id, side["side"]] = {
                **standings.get(side["model"]["id"], UNKNOWN_PLACE),
                "elo": None if rating is None else rating.rating,
                "elo_change": change,
            }
    return places


def _elo_changes(ratings: list[EloRating | None], order: int | None, choice: str) -> list[float | None]:
    left, right = ratings
    if left is None or right is None or not left.last_order == right.last_order == order:
        return [None, None]
    before = elo.before_vote(left.rating, right.rating, left_share=LEFT_SHARE[choice], k=elo_settings().k)
    return [left.rating - before[0], right.rating - before[1]]


def answer_totals(side: str, battle: BattlePayload) -> AnswerTotals:
    """Return totals of the side's answers before the vote; first_ms: of the first answer."""
    answers = [
        answer for turn in battle["turns"] if not turn["after_vote"] for answer in turn["answers"]
        if answer["side"] == side
    ]  # fmt: skip
    return {
        "tokens": _sum_of(answers, "completion_tokens"),
        "first_ms": answers[0]["first_token_ms"],
        "total_ms": _sum_of(answers, "total_ms"),
    }


def _sum_of(answers: list[AnswerPayload], name: Literal["completion_tokens", "total_ms"]) -> int | None:
    known = [count for answer in answers if (count := answer[name]) is not None]
    return sum(known) if known else None
