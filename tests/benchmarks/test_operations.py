"""Limits, deletion, export, metrics and the operations panel of runs."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts.actions import delete_account
from accounts.actor import Actor
from accounts.models import AuditEntry
from accounts.personal_data import collect_personal_data
from arena_site.operations import benchmarks, metrics
from arena_site.tasks import purge
from battles.models import Call
from benchmarks.models import Case, ItemReply, ProviderPace, Reply, Run, RunItem, Template
from models_registry.models import Breaker, LanguageModel
from tests import make
from tests.worlds.benchmarks import judged_runs, samples
from tests.worlds.benchmarks.samples import Sample

pytestmark = [pytest.mark.django_db, pytest.mark.processes]


def test_new_runs_are_limited_and_refused_ones_not_counted(settings, member: Actor, sample: Sample):
    settings.ARENA_LIMITS = {**settings.ARENA_LIMITS, ("run", "member"): "1/hour"}
    browser = make.browser(member)

    def start(model: str) -> int:
        body = {"template": sample.template.public_id, "version": 1, "models": [model]}
        return browser.post("/api/v1/benchmarks/runs/", body, content_type="application/json").status_code

    assert [start("eve"), start("ada"), start("bob")] == [422, 202, 429]
    assert Run.objects.count() == 2


def test_old_runs_are_deleted_with_their_answers_at_night(settings, member: Actor, sample: Sample):
    settings.ARENA_KEEP_DAYS = 30
    version = sample.run.version
    models = [entrant.model for entrant in sample.run.entrants.select_related("model")]
    published, recent, live = (
        samples.finished_run(member.user, version, models), samples.finished_run(member.user, version, models[:1]),
        samples.live_run(member.user, version, models[:1]),
    )  # fmt: skip
    # A reply that another run has, too, as reused ones.
    shared = sample.run.items.exclude(replies=None).earliest("pk").replies.get().reply
    ItemReply.objects.create(item=live.items.earliest("pk"), reply=shared)
    long_ago = timezone.now() - timedelta(days=31)
    Run.objects.exclude(pk=recent.pk).update(finished_at=long_ago)
    Run.objects.filter(pk=published.pk).update(published_at=long_ago)
    calls = Call.objects.count()
    purge()
    assert set(Run.objects.all()) == {published, recent, live}
    assert Reply.objects.filter(items=None).count() == 0
    assert Reply.objects.filter(pk=shared.pk).exists()
    assert Call.objects.count() == calls


def test_account_takes_private_runs_and_templates_along(member: Actor, sample: Sample, models: list[LanguageModel]):
    other, finished = make.member(), sample.run
    samples.sample(other.user, models)
    live = samples.live_run(member.user, finished.version, models)
    RunItem.objects.filter(pk=live.items.earliest("pk").pk).update(state="answering", lease_until=timezone.now())
    delete_account(member.user)
    assert not Run.objects.filter(pk=finished.pk).exists()
    live.refresh_from_db()
    assert (live.state, live.owner, live.name) == ("cancelled", None, "")
    RunItem.objects.filter(run=live, state="answering").update(state="skipped", lease_until=None)
    purge()
    assert set(Run.objects.values_list("owner", flat=True)) == {other.user.pk}
    assert Case.objects.filter(version__template__owner_user=other.user).count() == 16
    published = Run.objects.get()
    Run.objects.update(published_at=timezone.now())
    delete_account(other.user)
    assert Run.objects.get() == published
    assert Template.objects.filter(owner_user=None, versions__runs=published).exists()


def test_export_of_ones_data_has_templates_and_runs(member: Actor, sample: Sample, models: list[LanguageModel]):
    exported = collect_personal_data(member.user)
    [template], [run] = exported["benchmark_templates"], exported["benchmark_runs"]
    assert "benchmark_judges" not in exported
    judged_runs.judge(models[0], member.user, name="Strict")
    assert [judge["name"] for judge in collect_personal_data(member.user)["benchmark_judges"]] == ["Strict"]
    assert template["prompts"][0]["messages"][1]["template"] == "What is the capital of {{ country }}?"
    assert template["cases"][0]["expected"] == ["Paris"]
    assert (run["name"], run["items"], run["failed"]) == ("First look", 16, 1)


def test_runs_under_way_are_in_metrics(member: Actor, sample: Sample, models: list[LanguageModel]):
    live = samples.live_run(member.user, sample.run.version, models)
    first = live.items.earliest("pk")
    samples.answer(first, "Paris", is_right=True)
    RunItem.objects.filter(pk=first.pk).update(preempted=2)
    RunItem.objects.filter(run=live, state="queued").update(due_at=timezone.now() - timedelta(seconds=90))
    ProviderPace.objects.create(provider=models[0].provider, allowed=5)
    of_judge = Call.objects.filter(purpose="item")[0].pk
    Call.objects.filter(pk=of_judge).update(purpose="judge")
    Call.objects.filter(purpose="item").update(state="failed", error="cut")
    metrics._page.invalidate()  # cached for seconds
    page = Client().get("/metrics", REMOTE_ADDR="127.0.0.1").text
    assert 'arena_benchmark_items{state="queued"} 15.0' in page
    assert 'arena_benchmark_items{state="scored"} 1.0' in page
    assert f'arena_benchmark_calls{{outcome="cut"}} {Call.objects.count() - 1}.0' in page
    assert f'arena_benchmark_pace{{provider="{models[0].provider.name}"}} 5.0' in page
    assert 'arena_judge_calls{outcome="done"} 1.0' in page
    assert "arena_benchmark_preemptions 2.0" in page
    assert benchmarks.queue_age_s() >= 90


def test_administrators_see_why_runs_wait_and_pause_all(member: Actor, sample: Sample, models: list[LanguageModel]):
    live = [samples.live_run(member.user, sample.run.version, [model]) for model in models]
    Breaker.objects.create(model=models[1], opened_at=timezone.now(), probe_at=timezone.now(), reason="cut")
    first, second = benchmarks.live_runs()
    assert (first.run, first.reasons, first.progress.total) == (live[0], [], 8)
    assert second.reasons == []  # breakers and people's calls would tell who answers blind battles
    later = timezone.now() + timedelta(minutes=5)
    live[1].entrants.update(failures=3, failure="cut", next_try_at=later)
    [reason] = benchmarks.live_runs()[1].reasons
    assert reason.startswith("3 of this run’s calls to Model bob failed in a row: The connection broke")
    browser = make.browser(make.member(is_staff=True, is_superuser=True))
    page = browser.get("/admin/")
    assert "Pause all runs" in page.text
    assert "3 of this run’s calls to Model bob failed" in page.text
    sent = {"action": "pause_runs", "_selected_action": [run.pk for run in live]}
    assert "2 runs are paused now." in browser.post("/admin/benchmarks/run/", sent, follow=True).text
    assert [run.reasons for run in benchmarks.live_runs()] == [["Paused by the administrators."]] * 2
    assert AuditEntry.objects.filter(action="pause run").count() == 2
    moderator = make.browser(make.member(is_staff=True))
    assert moderator.post("/admin/benchmarks/run/", sent).status_code in (302, 403)
    assert "Benchmark runs" not in moderator.get("/admin/").text
