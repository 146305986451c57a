from collections.abc import Iterable
from typing import Literal, NamedTuple, Self, TypedDict

from accounts.actor import Actor
from accounts.models import Team
from accounts.teams.roles import Right, teams_with
from battles.models import Vote
from battles.payload_types import AnswerPayload, BattlePayload
from leaderboard.counting.board_keys import Board
from leaderboard.counting.contestants import full_slug, name_of
from leaderboard.counting.live_elo import LEFT_SHARE
from leaderboard.models import OVERALL, AggregationRun, EloRating, Standing
from leaderboard.models.elo_settings import elo_settings
from leaderboard.rating import elo
from models_registry.energy.estimates import sum_of
from models_registry.models import LanguageModel
from models_registry.payload_types import EnergyPayload


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
    energy: EnergyPayload | None


class SidePlace(PlaceNumbers):
    """Place on the site's Overall, or on that of `team`, a slug; on_site: the other one, if the vote counts there."""

    team: str
    on_site: PlaceNumbers | None


# Places by battle id and side; without battles of teams that the reader is not in, unless they count on the site.
Places = dict[tuple[str, str], SidePlace]


class _Cast(NamedTuple):
    order: int | None
    on_site: bool
    team: Team | None


def battle_places(battles: Iterable[BattlePayload], actor: Actor | None = None) -> Places:
    """Return current places on Overall for battles with a vote; three queries, none without votes, one more by team.

    elo_change: change by the battle's own vote; None once a later vote has moved either model.
    """
    voted = {battle["id"]: battle for battle in battles if battle["vote"] and battle["sides"]}
    if not voted:
        return {}
    votes = _votes_on(voted, actor)
    site = _SiteNumbers.read(_names(battle for key, battle in voted.items() if votes[key].on_site))
    teams = {vote.team for vote in votes.values() if vote.team is not None}
    of_teams = {
        team: _numbers_of_team(_names(battle for key, battle in voted.items() if votes[key].team == team), team)
        for team in teams
    }
    places: Places = {}
    for public_id, battle in voted.items():
        vote = votes[public_id]
        on_site = site.of_battle(battle, vote.order) if vote.on_site else None
        for index, side in enumerate(battle["sides"] or ()):
            of_site = None if on_site is None else on_site[index]
            if vote.team is not None:
                numbers = of_teams[vote.team].get(side["model"]["id"], UNKNOWN_PLACE)
                places[public_id, side["side"]] = {**numbers, "team": vote.team.slug, "on_site": of_site}
            elif of_site is not None:
                places[public_id, side["side"]] = {**of_site, "team": "", "on_site": None}
    return places


def _votes_on(battles: Iterable[str], actor: Actor | None) -> dict[str, _Cast]:
    """Return {battle id: vote}, with its team if the actor sees the team's boards."""
    teams = teams_with(actor.memberships, Right.SEE) if actor else {}
    votes = Vote.objects.filter(battle__public_id__in=battles)
    rows = votes.values_list("battle__public_id", "order", "on_site_boards", "team")
    return {key: _Cast(order, on_site, teams.get(team or 0)) for key, order, on_site, team in rows}


def _names(battles: Iterable[BattlePayload]) -> set[str]:
    return {side["model"]["id"] for battle in battles for side in battle["sides"] or ()}


def _numbers_of_team(names: set[str], team: Team) -> dict[str, PlaceNumbers]:
    """The Elo is the snapshot's: it does not move between them (docs/adr/0084)."""
    scope = Board(OVERALL, team.pk).scope
    newest = AggregationRun.objects.snapshots(scope, team.pk).values("pk")[:1]
    models = LanguageModel.objects.on_boards_of(team.pk).named(names).order_by()
    lines = Standing.objects.filter(run=newest, model__in=models)
    rows = lines.values_list(name_of("model"), "score", "rank", "preliminary", "elo")
    return {
        full_slug(name, team.slug): {
            "score": score, "rank": rank, "preliminary": early, "elo": rating, "elo_change": None,
        }
        for name, score, rank, early, rating in rows
    }  # fmt: skip


class _SiteNumbers(NamedTuple):
    """Standings and live Elo by slug."""

    standings: dict[str, PlaceNumbers]
    ratings: dict[str, EloRating]

    @classmethod
    def read(cls, slugs: set[str]) -> Self:
        if not slugs:
            return cls({}, {})
        newest = AggregationRun.objects.snapshots(OVERALL).values("pk")[:1]
        lines = Standing.objects.filter(run=newest, model__slug__in=slugs)
        rows = lines.values_list("model__slug", "score", "rank", "preliminary")
        standings: dict[str, PlaceNumbers] = {
            slug: {**UNKNOWN_PLACE, "score": score, "rank": rank, "preliminary": early}
            for slug, score, rank, early in rows
        }
        ratings = EloRating.objects.filter(model__slug__in=slugs).select_related("model")
        return cls(standings, {rating.model.slug: rating for rating in ratings})

    def of_battle(self, battle: BattlePayload, order: int | None) -> list[PlaceNumbers]:
        vote, slugs = battle["vote"], [side["model"]["id"] for side in battle["sides"] or ()]
        assert vote is not None  # battle_places selects battles with a vote
        ratings = [self.ratings.get(slug) for slug in slugs]
        changes = _elo_changes(ratings, order, vote["choice"])
        return [
            {
                **self.standings.get(slug, UNKNOWN_PLACE),
                "elo": None if rating is None else rating.rating,
                "elo_change": change,
            }
            for slug, rating, change in zip(slugs, ratings, changes, strict=True)
        ]


def numbers_of(place: SidePlace | None) -> PlaceNumbers:
    if place is None:
        return UNKNOWN_PLACE
    return {
        "score": place["score"], "rank": place["rank"], "preliminary": place["preliminary"], "elo": place["elo"],
        "elo_change": place["elo_change"],
    }  # fmt: skip


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
        "energy": sum_of([energy for answer in answers if (energy := answer["energy"]) is not None]),
    }


def _sum_of(answers: list[AnswerPayload], name: Literal["completion_tokens", "total_ms"]) -> int | None:
    known = [count for answer in answers if (count := answer[name]) is not None]
    return sum(known) if known else None
