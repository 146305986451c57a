"""Judges and judgements through the API, and who reads them."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from accounts.actor import Actor
from accounts.models import Role
from benchmarks.models import Judge, Judging, Run, Template
from benchmarks.preparation.run_preparation import prepare
from common.tables.parquet import read_rows as read_parquet
from models_registry.models import LanguageModel
from tests import make
from tests.benchmarks.test_api import API, program, send
from tests.worlds.benchmarks import judged_runs, samples

pytestmark = pytest.mark.django_db
JUDGES = API.removesuffix("benchmarks") + "judges"
RUBRIC = {"kind": "pairwise", "instructions": "Prefer the right answer."}


@pytest.fixture
def client(member: Actor) -> Client:
    return program(member)


@pytest.fixture
def subject(member: Actor, models: list[LanguageModel]) -> Run:
    return judged_runs.answered_run(member.user, models)


def post(client: Client, path: str, body: dict[str, Any]) -> Any:
    return client.post(f"{JUDGES}/{path}", body, content_type="application/json")


@pytest.fixture
def judge(client: Client) -> str:
    make.model(slug="cyd")
    return post(client, "", {"name": "Strict", "model": "cyd", "rubric": RUBRIC}).json()["id"]


def judged(subject: Run, client: Client, judge: str, **body: object) -> Judging:
    started = send(client, f"runs/{subject.public_id}/judgements/", {"judge": judge, "card": False, **body})
    assert started.status_code == 202, started.json()
    judging = Judging.objects.get(public_id=started.json()["id"])
    prepare(judging.run_id)
    return judged_runs.answer(judging, "judge-fair")


def test_judge_judges_a_run_by_the_api(client: Client, subject: Run, judge: str):
    judging = judged(subject, client, judge)
    address = f"{API}/runs/{subject.public_id}/judgements"
    page = client.get(f"{address}/?limit=10").json()
    [result], first = page["judges"], page["results"][0]
    ada, bob = (entrant.pk for entrant in subject.entrants.order_by("position"))
    assert (result["judged"], result["pairs_in_both_orders"], result["flips"]["value"]) == (8, 4, 0.0)
    assert [(pair["first"], pair["second"], pair["outcome"]["value"]) for pair in result["pairs"]] == [(ada, bob, 1.0)]
    assert [line["entrant"] for line in result["board"]] == [ada, bob]
    assert (first["first"], first["second"], first["outcome"], first["label"], first["reason"]) == (
        ada, bob, 1.0, "A>B", "They differ.",
    )  # fmt: skip
    assert (page["judgings"][0]["run"], page["judgings"][0]["state"], page["jury"]) == (
        judging.run.public_id, "done", None,
    )  # fmt: skip


@pytest.mark.processes
@pytest.mark.django_db(transaction=True)
def test_judgements_are_exported(client: Client, subject: Run, judge: str, tmp_path: Path):
    judged(subject, client, judge)
    address = f"{API}/runs/{subject.public_id}/judgements"
    of_csv = io.StringIO(samples.downloaded(client.get(f"{address}.csv")).decode())
    lines = samples.downloaded(client.get(f"{address}.jsonl?judge={judge}")).splitlines()
    file = tmp_path / "judgements.parquet"
    file.write_bytes(samples.downloaded(client.get(f"{address}.parquet")))
    expected = [("000", "001", 1.0, "A>B"), ("001", "000", 0.0, "B>A")] * 4
    for rows in (csv.DictReader(of_csv), map(json.loads, lines), read_parquet(file)):
        assert [(row["first"], row["second"], float(row["outcome"]), row["label"]) for row in rows] == expected
    assert client.get(f"{address}.xlsx").status_code == 404


def test_pages_of_judgements_lead_on(client: Client, subject: Run, judge: str):
    judged(subject, client, judge)
    address, seen = f"{API}/runs/{subject.public_id}/judgements/?limit=3", []
    while address:
        page = client.get(address).json()
        seen += [row["id"] for row in page["results"]]
        address = page["next"]
    assert (len(seen), len(set(seen))) == (8, 8)


@pytest.mark.parametrize(
    "body", [{"scores": True}, {"pairs": "every"}, {"pairs_per_case": 0}, {"orders": "one"}, {"judge": "none"}]
)
def test_bad_judgings_are_refused(client: Client, subject: Run, judge: str, body: dict[str, object]):
    refused = send(client, f"runs/{subject.public_id}/judgements/", {"judge": judge, **body})
    assert refused.status_code == (404 if "judge" in body else 400)


@pytest.mark.parametrize("rubric", [{}, {"kind": "scores"}, {"kind": "pairwise", "criteria": [{"name": ""}]}])
def test_bad_rubrics_are_refused(client: Client, judge: str, rubric: dict[str, object]):
    refused = post(client, "", {"name": "Bad", "model": "cyd", "rubric": rubric})
    assert (refused.status_code, list(refused.json()["fields"])) == (400, ["rubric"])


def test_judgements_are_their_owners(client: Client, subject: Run, judge: str):
    judging = judged(subject, client, judge)
    Run.objects.filter(pk=subject.pk).update(published_at="2026-01-01T00:00Z")
    other = program(make.member())
    for path in (f"{API}/runs/{subject.public_id}/judgements/", f"{JUDGES}/{judge}/"):
        assert (client.get(path).status_code, other.get(path).status_code) == (200, 404)
    assert other.get(f"{API}/runs/{judging.run.public_id}/").status_code == 404


def test_judgings_are_in_no_list(client: Client, browser: Client, subject: Run, judge: str, member: Actor):
    judging = judged(subject, client, judge)
    runs = client.get(f"{API}/runs/").json()["results"]
    assert [run["id"] for run in runs] == [subject.public_id]
    templates = client.get(f"{API}/templates/").json()["results"]
    assert [template["name"] for template in templates] == ["Questions"]
    hidden = Template.objects.get(kind="judge").public_id
    assert client.get(f"{API}/templates/{hidden}/").status_code == 404
    for show in ("templates", "runs"):
        assert judging.run.public_id not in browser.get(f"/benchmarks/?show={show}").text
    assert client.get(f"{API}/runs/{judging.run.public_id}/").json()["state"] == "done"
    assert send(client, f"runs/{judging.run.public_id}/publish/", {"readers": "names"}).status_code == 404
    assert send(client, f"runs/{judging.run.public_id}/rescore/", {}).status_code == 409


def test_judging_is_paused_and_cancelled_as_a_run(client: Client, subject: Run, judge: str):
    started = send(client, f"runs/{subject.public_id}/judgements/", {"judge": judge}).json()
    prepare(Judging.objects.get(public_id=started["id"]).run_id)
    for move, state in (("pause", "paused"), ("resume", "running"), ("cancel", "cancelled")):
        assert send(client, f"runs/{started['run']}/{move}/", {}).json()["state"] == state
    page = client.get(f"{API}/runs/{subject.public_id}/judgements/").json()
    assert (page["judges"][0]["stopped"], page["judges"][0]["judged"]) == (True, 0)


def test_members_of_a_team_share_judges():
    mate = make.user()
    team = make.team(slug="physics", members={Role.MEMBER: [mate]})
    run = judged_runs.answered_run(team.created_by, [make.model(), make.model()], team=team)
    judge = judged_runs.judge(make.team_model(team), team.created_by, team=team)
    judged_runs.answer(judged_runs.judging(judge, run), "judge-fair")
    reader = Client(headers={"Authorization": f"Bearer {make.token(mate, team=team)}"})
    assert reader.get(f"{JUDGES}/{judge.public_id}/").json()["team"] == "physics"
    assert reader.get(f"{API}/runs/{run.public_id}/judgements/").json()["judges"][0]["judged"] == 8
    assert Judge.objects.count() == 1
