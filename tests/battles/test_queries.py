"""Every query function returns the same battle."""

from collections.abc import Callable

import pytest
from django.db import connection, transaction
from django.db.models import Prefetch
from django.test.utils import CaptureQueriesContext

from accounts.actor import Actor
from battles.actions import cast_vote
from battles.models import Answer, Battle, Turn, Vote
from battles.payloads import battle_payload
from battles.queries import (
    find_battle_with_related,
    get_battle,
    get_battles_of_sessions,
    get_session_battles,
    lock_battle_for_vote,
)
from models_registry.models import LanguageModel, Price
from tests import make

pytestmark = pytest.mark.django_db


def priced(name: str, dollars: int) -> LanguageModel:
    model = make.model(name=name)
    for times in (1, 2):
        Price.objects.create(model=model, input_per_million=dollars, output_per_million=dollars * times)
    return model


@pytest.fixture
def person() -> Actor:
    return make.member()


@pytest.fixture
def battle(person: Actor) -> Battle:
    battle = make.answered_battle(priced("Ada", 1), priced("Bea", 2), actor=person)
    cast_vote(actor=person, battle=battle, choice=Vote.Choice.LEFT)
    make.turn(battle, prompt="And then?")
    return battle


def locked(battle: Battle) -> Battle:
    with transaction.atomic():
        return lock_battle_for_vote(battle.pk)


READERS: list[Callable[[Battle, Actor], Battle]] = [
    lambda battle, person: get_battle(battle.pk),
    lambda battle, person: locked(battle),
    lambda battle, person: get_session_battles(battle.session)[0],
    lambda battle, person: get_battles_of_sessions([battle.session])[0],
    lambda battle, person: find_battle_with_related(person, battle.public_id) or battle,
]


@pytest.mark.parametrize("read", READERS)
def test_every_query_function_yields_the_same_payload(
    battle: Battle, person: Actor, read: Callable[[Battle, Actor], Battle]
):
    make.answered_battle(
        priced("Cleo", 3), priced("Dora", 4), actor=person
    )  # another battle, whose rows must not mix in
    loaded = read(battle, person)
    with CaptureQueriesContext(connection) as queries:
        payload = battle_payload(loaded)
    assert not queries.captured_queries
    plain = Battle.objects.prefetch_related(
        Prefetch("turns", Turn.objects.with_attachments().order_by("index")),
        Prefetch("turns__answers", Answer.objects.in_order()),
    )
    assert payload | {"stream_url": None} == battle_payload(plain.get(pk=battle.pk)) | {"stream_url": None}
    assert [side["model"]["name"] for side in payload["sides"]] == ["Ada", "Bea"]
    assert [side["model"]["price_output"] for side in payload["sides"]] == ["2", "4"]
    assert [len(turn["answers"]) for turn in payload["turns"]] == [2, 2]


def test_battle_of_another_person_is_not_found(battle: Battle):
    assert find_battle_with_related(make.member(), battle.public_id) is None
    assert find_battle_with_related(make.visitor(), battle.public_id) is None
    assert find_battle_with_related(Actor(), battle.public_id) is None
