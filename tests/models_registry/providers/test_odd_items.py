"""Items of runs whose servers deviate from OpenAI's end as a battle's sides do."""

from functools import partial

import pytest

from battles.worker.runner import Engine
from benchmarks.models import ItemCall, Reply, RunItem
from benchmarks.worker.runner import drive
from tests import make
from tests.benchmarks import factory
from tests.fake_provider import FakeProvider
from tests.worlds.oddities import ODDITIES

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]
ENTRANTS = 20


def test_odd_answers_end_as_they_should(fake_provider: FakeProvider, engine: Engine):
    models = [make.model(name, at=fake_provider.base_url) for name in ODDITIES]
    version = factory.version(1)
    for at in range(0, len(models), ENTRANTS):
        run = factory.run(version, *models[at : at + ENTRANTS], attempts=1)
        engine.run(partial(drive, run.pk), "run")
        factory.wait_until_ended(run, within=60)
    replies = {reply.call_id: (reply.text, reply.reasoning) for reply in Reply.objects.all()}
    calls = {call.item_id: replies.get(call.call_id) for call in ItemCall.objects.all()}
    items = RunItem.objects.select_related("entrant__model")
    ended = {item.entrant.model.upstream_name: (item.error, calls[item.pk]) for item in items}
    assert ended == {
        name: (odd.code, None if odd.code else (odd.text, odd.reasoning)) for name, odd in ODDITIES.items()
    }
