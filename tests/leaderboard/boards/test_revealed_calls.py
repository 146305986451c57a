import pytest
from django.db.models.functions import Now

from battles import actions
from battles.models import Battle, Call, Vote
from leaderboard.boards.model_page import recent_calls
from leaderboard.models import OVERALL, AggregationRun
from models_registry.models import LanguageModel
from tests import make
from tests.leaderboard import vote_factory
from tests.leaderboard.tally_checks import aggregate

pytestmark = pytest.mark.django_db(transaction=True)  # within one transaction, Now() would not advance


@pytest.fixture
def models() -> list[LanguageModel]:
    ada, bob = vote_factory.contestants("ada", "bob")
    vote_factory.cast_many(ada, bob, left=6)
    return [ada, bob]


def called_battle(left: LanguageModel, right: LanguageModel, mode: str = Battle.Mode.BLIND) -> Battle:
    battle = make.answered_battle(left, right)
    Battle.objects.filter(pk=battle.pk).update(mode=mode)
    for answer in battle.turns.get().answers.select_related("side"):
        Call.objects.create(
            answer=answer, model_id=answer.side.model_id, attempt=1, fence=1, state="done", first_token_ms=100,
            total_ms=100,
        )  # fmt: skip
    return battle


def figures(model: LanguageModel) -> tuple[int, int | None]:
    """Return the calls on the model's page and the board's median time to the first token."""
    calls = recent_calls(model.pk)
    newest = AggregationRun.objects.snapshots(OVERALL).first()
    standing = newest.standings.get(model=model) if newest else None
    return calls["calls"] if calls else 0, standing.median_first_token_ms if standing else None


def test_calls_of_unvoted_blind_battle_are_not_counted(models: list[LanguageModel]):
    called_battle(*models)
    aggregate()
    assert [figures(model) for model in models] == [(0, None), (0, None)]


def test_calls_count_from_first_snapshot_after_the_vote(models: list[LanguageModel]):
    aggregate()
    battle = called_battle(*models)
    actions.cast_vote(actor=make.visitor(), battle=battle, choice=Vote.Choice.LEFT)
    assert [figures(model) for model in models] == [(0, None), (0, None)]
    aggregate()
    assert [figures(model) for model in models] == [(1, 100), (1, 100)]


def test_calls_of_void_battle_count_from_next_snapshot(models: list[LanguageModel]):
    aggregate()
    Battle.objects.filter(pk=called_battle(*models).pk).update(voided_at=Now())
    assert figures(models[0]) == (0, None)
    aggregate()
    assert figures(models[0]) == (1, 100)


@pytest.mark.parametrize("mode", [mode for mode in Battle.Mode.values if mode not in Battle.BLIND_MODES])
def test_calls_of_open_modes_count_immediately(models: list[LanguageModel], mode: str):
    called_battle(*models, mode)
    assert figures(models[0])[0] == 1
