from itertools import count

from django.db import transaction

from battles.models import Battle, Session, Vote
from models_registry.models import LanguageModel
from tests import make

# Numbers of voters without a name. Tests name others by small numbers; these grow through all tests of a process.
_numbers = count(1_000_000_000)


def contestants(*slugs: str) -> list[LanguageModel]:
    return [make.model(slug=slug, name=slug.title()) for slug in slugs]


def ballot(
    left: LanguageModel, right: LanguageModel, choice: str, *, voter: str = "", excluded: str = "", **facts: object
) -> Vote:
    """Return a vote on a new battle, to be stored by `cast_all`."""
    battle = Battle(session=Session(team=facts.get("team")), propensity=1)
    if "series" in facts:
        facts |= {"mode": Battle.Mode.REVIEW, "on_site_boards": False}
        battle.mode, battle.series = Battle.Mode.REVIEW, facts["series"]
    return Vote(
        battle=battle, choice=choice, model_left=left, model_right=right,
        turn_count=1, voter=voter or f"visitor:{next(_numbers)}", excluded_reason=excluded, **facts,
    )  # fmt: skip


@transaction.atomic
def _store(ballots: list[Vote]) -> None:
    Session.objects.bulk_create([vote.battle.session for vote in ballots])
    Battle.objects.bulk_create([vote.battle for vote in ballots])
    Vote.objects.bulk_create(ballots)


def cast_all(ballots: list[Vote]) -> list[Vote]:
    """Store votes in their order, in one transaction; much faster than one by one."""
    _store(ballots)
    orders = dict(Vote.objects.filter(pk__in=[vote.pk for vote in ballots]).values_list("pk", "order"))
    for vote in ballots:
        vote.order = orders[vote.pk]
    return ballots


def cast(
    left: LanguageModel, right: LanguageModel, choice: str, *, voter: str = "", excluded: str = "", **facts: object
) -> Vote:
    return cast_all([ballot(left, right, choice, voter=voter, excluded=excluded, **facts)])[0]


def cast_many(first: LanguageModel, second: LanguageModel, /, **choices: int) -> list[Vote]:
    """Cast votes by choice: cast_many(a, b, left=3, tie=1), with a on the left."""
    return cast_all([ballot(first, second, choice) for choice, n in choices.items() for _ in range(n)])
