from accounts.models import Team
from battles.models import Answer, Battle, Position, Session, Side, StarRating, Turn, Vote
from models_registry.models import LanguageModel
from tests.leaderboard.vote_factory import ballot, cast_all


def cast_in(
    team: Team, pair: list[LanguageModel], /, *, on_site: bool = False, voters: int = 2, **choices: int
) -> list[Vote]:
    """Cast votes by choice in sessions of the team."""
    numbered = [choice for choice, n in choices.items() for _ in range(n)]
    return cast_all(
        [
            ballot(
                *pair, choice, team=team, on_site_boards=on_site, voter=f"user:{1_000_000 + number % voters}",
                categories=["coding"], language="en",
            )
            for number, choice in enumerate(numbered)
        ]
    )  # fmt: skip


def cast_stars(pair: list[LanguageModel], stars: tuple[int, int], *, team: Team | None = None) -> None:
    """Rate both answers of a battle of many."""
    battle = Battle.objects.create(session=Session.objects.create(team=team), mode=Battle.Mode.COMPARE, propensity=1)
    turn = Turn.objects.create(battle=battle, index=0, prompt="p", state=Turn.State.DONE)
    for position, model, given in zip((Position.LEFT, Position.RIGHT), pair, stars, strict=True):
        side = Side.objects.create(battle=battle, position=position, model=model)
        answer = Answer.objects.create(turn=turn, side=side, state=Answer.State.DONE)
        StarRating.objects.create(
            answer=answer, stars=given, voter="user:1000000", team=team, on_site_boards=team is None
        )
