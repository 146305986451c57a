from battles.models import Turn, Vote
from models_registry.models import LanguageModel
from tests.leaderboard.vote_factory import ballot, cast_all


def cast_with_prompts(
    first: LanguageModel, second: LanguageModel, size: int, *, flipped: bool = False, **facts: object
) -> list[Vote]:
    """Cast votes that `first` wins on code and `second` on poems, or the other way round."""
    kinds = [("write python function", "left", ["coding"]), ("a poem about love", "right", ["creative_writing"])]
    ballots = []
    for number in range(size):
        _, choice, categories = kinds[number % 2]
        if flipped or number % 10 == 9:
            choice = {"left": "right", "right": "left"}[choice]
        ballots.append(ballot(first, second, choice, categories=categories, language="en", **facts))
    votes = cast_all(ballots)
    Turn.objects.bulk_create(
        Turn(battle=vote.battle, index=0, prompt=f"{kinds[number % 2][0]} {number}", state=Turn.State.DONE)
        for number, vote in enumerate(votes)
    )
    return votes
