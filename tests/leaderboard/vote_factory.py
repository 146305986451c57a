from itertools import count

from django.db import transaction

from battles.models import Battle, Session, Vote
from models_registry.models import LanguageModel
from tests import make

_numbers = count(1)


def contestants(*slugs: str) -> list[LanguageModel]:
    return [make.model(slug=slug, name=slug.title()) for slug in slugs]


def cast(
    left: LanguageModel, right: LanguageModel, choice: str, *, voter: str = "", excluded: str = "", **facts: object
) -> Vote:
    with transaction.atomic():
        battle = Battle.objects.create(session=Session.objects.create(), propensity=1)
        vote = Vote.objects.create(
            battle=battle, choice=choice, model_left=left, model_right=right, turn_count=1,
            voter=voter or f"visitor:{next(_numbers)}",
            excluded_reason=excluded, **facts,
        )  # fmt: skip
    vote.refresh_from_db(fields=["order"])
    return vote


def cast_many(first: LanguageModel, second: LanguageModel, /, **choices: int) -> list[Vote]:
    """Cast votes by choice: cast_many(a, b, left=3, tie=1), with a on the left."""
    return [cast(first, second, choice) for choice, n in choices.items() for _ in range(n)]
