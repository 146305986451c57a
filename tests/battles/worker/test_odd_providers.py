"""Sides whose servers deviate from OpenAI's: an answer that can be judged, or a failure with its code."""

import pytest

from battles.models import Answer
from battles.worker.runner import Engine
from models_registry.models import LanguageModel
from tests import make
from tests.fake_provider import FakeProvider
from tests.worlds.oddities import ODDITIES

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def test_odd_answers_end_as_they_should(fake_provider: FakeProvider, engine: Engine):
    names = list(ODDITIES)
    models = [make.model(name, at=fake_provider.base_url) for name in names]
    battles = [make.battle(models[at - 1], models[at]) for at in range(1, len(models), 2)]
    LanguageModel.objects.update(status="paused")  # no side is redrawn
    for battle in battles:
        engine.answer(battle.turns.get().pk)
    ended = {
        answer.side.model.upstream_name: (
            answer.state, answer.error, answer.text, answer.reasoning, answer.call.finish_reason,
        )
        for answer in Answer.objects.select_related("call", "side__model")
    }  # fmt: skip
    wanted = {
        name: ("failed" if odd.code else "done", odd.code, odd.text, odd.reasoning, ended[name][-1])
        for name, odd in ODDITIES.items()
        if name in ended
    }
    assert ended == wanted
    assert len(ended) >= len(names) - 1
    assert {name: end[-1] for name, end in ended.items() if end[0] == "done"} == {
        name: ODDITIES[name].finish for name, end in ended.items() if end[0] == "done"
    }
