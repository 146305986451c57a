"""Runs through the API: limits, moves, and what others read."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.actor import Actor
from benchmarks.actions import drafts
from benchmarks.models import Case, Run, RunItem, Template
from benchmarks.preparation.run_preparation import prepare
from models_registry.models import LanguageModel
from tests import make
from tests.benchmarks.test_api import API, program, send
from tests.worlds.benchmarks import samples
from tests.worlds.benchmarks.samples import Sample

pytestmark = [pytest.mark.django_db, pytest.mark.processes]


@pytest.fixture
def client(member: Actor) -> Client:
    return program(member)


@pytest.fixture
def template(member: Actor) -> Template:
    return samples.template(member.user)


@pytest.fixture
def start(client: Client, template: Template, models: list[LanguageModel]) -> Callable[..., Any]:
    body = {"template": template.public_id, "version": 1, "models": [models[0].slug]}
    return lambda **changes: send(client, "runs/", {**body, **changes})


@pytest.fixture
def live(member: Actor, models: list[LanguageModel], template: Template) -> Run:
    return samples.live_run(member.user, template.versions.get(), models)


def test_run_waits_to_be_started(client: Client, start: Callable[..., Any]):
    path = f"runs/{start(start=False).json()['id']}/"
    assert not prepare(Run.objects.latest("pk").pk)  # no calls may begin
    assert client.get(f"{API}/{path}").json()["state"] == "queued"
    assert send(client, f"{path}start/", {}).json()["state"] == "running"
    assert send(client, f"{path}start/", {}).status_code == 409


@pytest.mark.parametrize("limits", [{"member": 1, "site": 20}, {"member": 3, "site": 1}])
def test_runs_under_way_are_limited(settings, limits: dict[str, int], live: Run, start: Callable[..., Any]):
    settings.ARENA_RUNS = limits
    refused = start()
    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_runs")
    Run.objects.filter(pk=live.pk).update(state="cancelled")
    assert start().status_code == 202


def test_numbers_of_entrants_and_cases_are_limited(
    client: Client, template: Template, start: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
):
    refused = start(models=["ada"] * 51)
    assert (refused.status_code, "1 to 50" in refused.text) == (400, True)
    path = f"templates/{template.public_id}/cases/"
    assert send(client, path, {"cases": [{}] * 1_001}).status_code == 400
    monkeypatch.setattr(drafts, "MAX_CASES", 9)
    assert send(client, path, {"cases": [{}] * 2}).status_code == 422
    assert Case.objects.count() == 8


def test_run_is_paused_and_resumed_and_named(client: Client, live: Run):
    path = f"runs/{live.public_id}/"
    assert [send(client, f"{path}{move}/", {}).json()["state"] for move in ("pause", "resume")] == ["paused", "running"]
    assert send(client, path, {"name": "Second look"}, "patch").json()["name"] == "Second look"
    stream = client.get(f"{API}/{path}stream/")
    assert (stream.status_code, stream["Location"].startswith("/benchmarks/stream/")) == (307, True)


def test_reasons_to_wait_are_sentences_and_fields(client: Client, live: Run, models: list[LanguageModel]):
    later = timezone.now() + timedelta(minutes=5)
    live.entrants.filter(model=models[0]).update(next_try_at=later)
    LanguageModel.objects.filter(pk=models[1].pk).update(status="paused")
    shown = client.get(f"{API}/runs/{live.public_id}/").json()
    first, second = shown["waits"]
    assert first.startswith("Model ada has asked to wait until")
    assert second == "Model bob is not active."
    assert (shown["entrants"][0]["failures"], shown["entrants"][0]["next_try_at"] is None) == (0, False)


def test_items_of_a_case_are_listed(client: Client, sample: Sample):
    page = client.get(f"{API}/runs/{sample.run.public_id}/items/?case=japan").json()
    assert (page["count"], [item["state"] for item in page["results"]]) == (None, ["scored", "failed"])


def test_published_run_is_read_by_all(client: Client, sample: Sample):
    path = f"runs/{sample.run.public_id}/"
    statuses = []
    for readers in ("names", "numbers", "none"):
        assert send(client, f"{path}publish/", {"readers": readers}).status_code == 200
        statuses.append([Client().get(f"{API}/{path}{part}").status_code for part in ("", "items/", "report/")])
    assert statuses == [[200] * 3, [404] * 3, [404] * 3]
    assert send(client, f"{path}publish/", {"readers": "all"}).status_code == 400


def test_grade_is_stored_or_refused(client: Client, sample: Sample):
    failed = RunItem.objects.get(error="cut", entrant__run=sample.run)

    def grade(kind: str, value: int, item: int = sample.item.pk) -> int:
        path = f"items/{sample.run.public_id}-{item}/grade/"
        return int(send(client, path, {"kind": kind, "value": value}).status_code)

    assert [grade("pass", 2), grade("stars", 0), grade("points", 1), grade("pass", 1, failed.pk)] == [400] * 3 + [409]
    assert [grade("pass", 1), grade("stars", 5)] == [201, 201]
    assert list(sample.item.grades.order_by("pk").values_list("kind", "value")) == [("pass", 1), ("stars", 5)]


@pytest.mark.django_db(transaction=True)
def test_template_is_downloaded_by_its_readers(client: Client, template: Template):
    path = f"{API}/templates/{template.public_id}/export.yaml"
    assert b"names the capital" in samples.downloaded(client.get(path))
    assert b"promptfoo" in samples.downloaded(client.get(f"{path}?for=promptfoo"))
    assert program(make.member()).get(path).status_code == 404
