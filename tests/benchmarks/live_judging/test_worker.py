"""The judge of voted battles on a worker's event loop, against a judge of the fake provider."""

import pytest

from battles.models import Call
from battles.worker.runner import Engine
from benchmarks.live_judging.asking import judge_battles
from benchmarks.live_judging.drawing import draw_votes
from benchmarks.models import LiveJudgement
from tests import make
from tests.benchmarks.live_judging.factory import live_judge, voted
from tests.fake_provider import FakeProvider
from tests.waiting import wait_for

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]


def test_worker_asks_until_nothing_is_due(fake_provider: FakeProvider, engine: Engine):
    judge = make.model("judge-fair", at=fake_provider.base_url)
    pair = make.model(at=fake_provider.base_url), make.model(at=fake_provider.base_url)
    live_judge(judge)
    for _ in range(2):
        voted(*pair)
    draw_votes()
    engine.run(judge_battles, "judge of voted battles")
    wait_for(lambda: LiveJudgement.objects.filter(state="done").count() == 4)
    assert set(LiveJudgement.objects.values_list("outcome", flat=True)) == {1.0}
    assert (fake_provider.calls["judge-fair"], Call.objects.filter(purpose="judge").count()) == (4, 4)
