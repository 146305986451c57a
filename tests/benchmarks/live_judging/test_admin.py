import pytest
from django.test import Client

from accounts.models import AuditEntry, User
from battles.models import Vote
from benchmarks.models import LiveJudge
from benchmarks.sweep import sweep
from tests import make
from tests.benchmarks.live_judging.factory import judge_all, live_judge, voted
from tests.worlds.benchmarks import judged_runs

pytestmark = pytest.mark.django_db
PAGE = "/admin/benchmarks/livejudge/"
TERMS = {"is_on": "on", "share": "25", "day_budget": "1", "month_budget": "5"}


@pytest.fixture
def client(client: Client, administrator: User) -> Client:
    client.force_login(administrator)
    return client


@pytest.mark.parametrize("with_earlier", [True, False], ids=["all votes", "later votes"])
def test_administrator_chooses_a_judge_of_the_site(client: Client, administrator: User, with_earlier: bool):
    voted(make.model(), make.model())
    own = judged_runs.judge(make.model(), administrator)
    private = judged_runs.judge(make.model(), make.user(), name="Private")
    assert "Private" not in client.get(f"{PAGE}add/").content.decode()
    assert client.post(f"{PAGE}add/", {"judge": private.pk, **TERMS}).status_code == 200
    earlier = {"earlier_votes": "on"} if with_earlier else {}
    assert client.post(f"{PAGE}add/", {"judge": own.pk, **TERMS, **earlier}).status_code == 302
    live = LiveJudge.objects.get()
    assert (live.judge, live.is_on, live.share) == (own, True, 25)
    assert (live.first_order == 0) == with_earlier
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.details["share"]) == ("add live judge", "25")
    assert "Another judge is on." in client.post(f"{PAGE}add/", {"judge": own.pk, **TERMS}).content.decode()


def test_change_keeps_what_was_drawn(client: Client):
    live = live_judge(make.model())
    voted(make.model(), make.model())
    judge_all()
    LiveJudge.objects.update(waits_for="day_budget")
    page = client.get(f"{PAGE}{live.pk}/change/").content.decode()
    assert "2 of 2 questions; 0 without a verdict" in page
    assert client.post(f"{PAGE}{live.pk}/change/", {**TERMS, "is_on": ""}).status_code == 302
    live.refresh_from_db()
    assert (live.is_on, live.waits_for, live.last_order) == (False, "", Vote.objects.get().order)


def test_sweep_draws_and_wakes_a_worker(monkeypatch: pytest.MonkeyPatch):
    woken: list[bool] = []
    monkeypatch.setattr("benchmarks.tasks.judge_battles.apply_async", lambda **_: woken.append(True))
    voted(make.model(), make.model())
    sweep()
    live_judge(make.model())
    assert woken == []
    sweep()
    assert woken == [True]
