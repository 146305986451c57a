"""Requests about benchmarks, judges, reviews and reports, whose responses are compared with the API's schema."""

from collections.abc import Callable
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from accounts.actor import Actor
from accounts.models import User
from benchmarks.models import Judging, Run
from benchmarks.preparation.run_preparation import prepare
from benchmarks.reports.store import compute_report, store_report
from models_registry.models import LanguageModel
from tests import make
from tests.worlds.benchmarks import judged_runs, samples
from tests.worlds.reviews.second_opinions import voted_battle


def ask_about_benchmarks(ask: Callable[..., Any], owner: User, ids: dict[str, list[str]]) -> None:
    """Call every operation of benchmarks, on finished and live runs."""
    [template], [run], [item] = (ids[kind] for kind in ("templates", "runs", "items"))
    templates, runs = "benchmarks/templates/", "benchmarks/runs/"
    content = {
        "prompts": [{"label": "a", "messages": [{"role": "user", "template": "{{ n }}?"}], "turns": ["Sure?"]}],
        "checks": [
            {"key": "c", "scorer": "contains", "target": "1"}, {"key": "d", "scorer": "contains", "target": ["1"]},
        ],
        "parameters": {"temperature": 0}, "variables": {"type": "object"}, "errors_count": "wrong",
        "threshold": 0.5, "relevant_difference": None,
    }  # fmt: skip
    made = ask("post", templates, {"name": "New", **content})["id"]
    ask("put", f"{templates}{{public_id}}/", {"name": "Newer", **content}, public_id=made)
    case = {"key": "a", "variables": {"n": 1}, "expected": [1], "messages": [{"role": "user", "content": "Hi"}]}
    cases = {
        "cases": [
            {
                **case,
                "checks": [{"scorer": "is_json"}],
                "tags": ["t"],
                "cluster": "c",
                "metadata": {"m": 1},
                "weight": 2,
                "files": [{"variable": "atlas", "upload": samples.document(owner).public_id}],
            },
            {"variables": {"n": 2}},
        ]
    }
    ask("post", f"{templates}{{public_id}}/cases/", cases, public_id=made)
    ask("get", f"{templates}{{public_id}}/cases/", public_id=made)
    ask("post", f"{templates}{{public_id}}/freeze/", public_id=made)
    ask("post", f"{templates}{{public_id}}/versions/", public_id=made)
    ask("post", f"{templates}{{public_id}}/copy/", {"team": ""}, public_id=made)
    ask("delete", f"{templates}{{public_id}}/", public_id=made)
    assert ask("get", templates)["results"][0]["version"]
    for path in ("", "versions/", "export.yaml"):
        ask("get", f"{templates}{{public_id}}/{path}", public_id=template)
    body = {"template": template, "version": 1, "models": ["ada"]}
    assert ask("post", "benchmarks/estimate/", body)["items"] == 8
    ask_about_reports(ask, Run.objects.get(public_id=run), owner)
    ask_about_judges(ask, owner, run)
    grade = {"kind": "stars", "value": 4}
    assert ask("post", "benchmarks/items/{public_id}/grade/", grade, public_id=item)["value"] == 4
    table = SimpleUploadedFile("cases.csv", b"country,expected\nFrance,Paris\n")
    preview = ask("post", "benchmarks/imports/", {"file": table})
    assert (preview["cases"], preview["format"]) == (1, "table")
    imported = ask("post", "benchmarks/imports/{public_id}/apply/", {}, public_id=preview["id"])["id"]
    ask("delete", f"{templates}{{public_id}}/", public_id=imported)
    started = ask("post", runs, {**body, "start": False})["id"]
    Run.objects.filter(public_id=started).update(state="queued")
    entrant = Run.objects.get(public_id=started).entrants.earliest("pk").pk
    left_out = ask("post", f"{runs}{{public_id}}/leave-out/", {"entrant": entrant}, public_id=started)
    assert left_out["entrants"][0]["left_out_at"]
    for state, move in [("queued", "start"), ("running", "pause"), ("paused", "resume"), ("running", "cancel")]:
        Run.objects.filter(public_id=started).update(state=state)
        ask("post", f"{runs}{{public_id}}/{move}/", public_id=started)
    ask("post", f"{runs}{{public_id}}/retry/", public_id=run)
    ask("patch", f"{runs}{{public_id}}/", {"name": "Second look"}, public_id=run)
    ask("get", f"{runs}{{public_id}}/stream/", public_id=run)
    for path in ("", "items/"):
        ask("get", f"{runs}{{public_id}}/{path}", public_id=run)
    assert ask("get", runs)["count"] == 3
    assert ask("get", "benchmarks/items/{public_id}/", public_id=item)["scores"]


def ask_about_judges(ask: Callable[..., Any], owner: User, run: str) -> None:
    body = {
        "name": "Strict", "model": "ada", "own_family": "allow",
        "rubric": {"kind": "pairwise", "criteria": [{"name": "right", "points": 3}]},
    }  # fmt: skip
    judge = ask("post", "judges/", body)["id"]
    changed = ask("put", "judges/{public_id}/", {**body, "parameters": {"temperature": 1}}, public_id=judge)
    assert (changed["number"], changed["series"]) == (2, judge)
    assert ask("get", "judges/{public_id}/", public_id=judge)["archived"]
    listed = {one["id"] for one in ask("get", "judges/")["results"]}
    assert changed["id"] in listed
    assert judge not in listed
    path, wanted = "benchmarks/runs/{public_id}/", {"judge": changed["id"], "card": False}
    estimated = ask("post", f"{path}judgements/estimate/", wanted, public_id=run)
    started = ask("post", f"{path}judgements/", wanted, public_id=run)
    card = ask("post", "judges/{public_id}/card/", {"run": run}, public_id=changed["id"])
    assert (estimated["controls"], started["is_card"], card["is_card"]) == (0, False, True)
    for judging in Judging.objects.select_related("run"):
        prepare(judging.run_id)
        judged_runs.answer(judging, "judge-first")
    grading = judged_runs.judge(make.model(), owner, judged_runs.SCORES)
    judged_runs.answer(judged_runs.judging(grading, Run.objects.get(public_id=run)), "judge-grades")
    judged = ask("get", f"{path}judgements/", query="?style=1", public_id=run)
    assert [result["judged"] for result in judged["judges"]] == [15, estimated["questions"]]
    assert ask("get", f"{path}judgements/", query="?controls=1", public_id=run)["results"][0]["control"]
    for ending in ("jsonl", "csv", "parquet"):
        ask("get", f"{path[:-1]}/judgements.{{ending}}", public_id=run, ending=ending)


def ask_about_reports(ask: Callable[..., Any], run: Run, owner: User) -> None:
    other = samples.finished_run(owner, run.version, [entrant.model for entrant in run.entrants.all()])
    for each in (run, other):
        store_report(each, compute_report(each))
    path = "benchmarks/runs/{public_id}/"
    assert ask("get", f"{path}report/", public_id=run.public_id)["report"]["metrics"]
    compared = ask("get", f"{path}compare/", query=f"?with={other.public_id}", public_id=run.public_id)
    assert compared["comparison"]["entrants"]
    assert ask("get", "benchmarks/heatmap/", query="?average=1")["cells"]
    for ending in ("jsonl", "csv", "parquet", "xlsx", "json", "inspect"):
        ask("get", "benchmarks/runs/{public_id}/export.{ending}", public_id=run.public_id, ending=ending)
    for readers in ("numbers", "none"):
        ask("post", f"{path}publish/", {"readers": readers}, public_id=run.public_id)
    ask_about_decision_reports(ask, run)
    assert ask("post", f"{path}rescore/", public_id=other.public_id)["state"] == "scoring"


def ask_about_reviews(ask: Callable[..., Any], client: Client, owner: User) -> None:
    run = samples.sample(owner, LanguageModel.objects.filter(slug__in=["ada", "bob"])).run
    terms = {"title": "Which capital?", "closes_at": None, "plan": "regular", "cases": 8}
    path = "reviews/{public_id}/"
    made = ask("post", "reviews/", {"run": run.public_id, **terms})["id"]
    rule = {"stop_share": 60, "stop_level": 5, "contrasts": [["ada", "bob"]], "baseline": ""}
    assert ask("patch", path, {"hides_results": True, **rule}, public_id=made)["contrasts"] == [["ada", "bob"]]
    assert ask("post", f"{path}open/", public_id=made)["items"] == 7
    battle = ask("post", f"{path}next/", public_id=made)
    assert (battle["mode"], battle["sides"]) == ("review", None)
    client.post(f"/api/v1/battles/{battle['id']}/vote/", {"choice": "left"}, "application/json")
    assert ask("get", f"{path}progress/", public_id=made)["knew_answers"] == 1
    [person] = ask("get", f"{path}people/", public_id=made)["results"]
    number = {"public_id": made, "number": person["number"]}
    assert ask("post", f"{path}people/{{number}}/aside/", {"because": "hasty"}, **number)["because"] == "hasty"
    assert ask("post", f"{path}people/{{number}}/back/", **number)["set_aside_at"] is None
    ask("get", path, public_id=made)
    assert ask("get", "reviews/")["count"] == 1
    ask("post", f"{path}close/", public_id=made)
    results = ask("get", f"{path}results/", public_id=made)
    assert (results["excluded"], results["contrasts"][0]["decision"]) == ({"knew_answers": 1}, "not_decided")
    assert ask("get", f"{path}agreement/", public_id=made)["opinions"] == 0
    for ending in ("jsonl", "csv", "parquet"):
        ask("get", f"{path}export.{{ending}}", public_id=made, ending=ending)
    ask("post", f"{path}withdraw/", public_id=made)
    by_link = {"run": run.public_id, "audience": "link", "expected_people": 40, "open": True}
    code = ask("post", "reviews/", by_link)["code"]
    assert ask("post", "reviews/join/", {"code": code})["asks_you"]
    graded = ask("post", "reviews/", {"run": run.public_id, "asks_for": "stars", "open": True})["id"]
    drawn = ask("post", f"{path}next/", public_id=graded)["answer"]
    assert ask("post", f"{path}grades/", {"answer": drawn, "value": 4}, public_id=graded)["value"] == 4
    ask("post", f"{path}close/", public_id=graded)
    assert ask("get", f"{path}results/", public_id=graded)["grades"]["entrants"] == []
    voted = voted_battle(Actor(user=owner))
    asked = ask("post", "battles/{public_id}/second-opinion/", public_id=voted.public_id)["id"]
    assert ask("get", f"{path}results/", public_id=asked)["spread"]["tie"] == 0


def ask_about_decision_reports(ask: Callable[..., Any], run: Run) -> None:
    made = ask("post", "reports/", {"question": "Which one?", "run": run.public_id})
    on_board = ask("post", "reports/", {"question": "Who leads?", "board": "overall"})
    assert [listed["id"] for listed in ask("get", "reports/")["results"]] == [on_board["id"], made["id"]]
    path = "reports/{public_id}/"
    assert ask("post", f"{path}publish/", {"readers": "numbers"}, public_id=made["id"])["readers"] == "numbers"
    assert ask("get", path, public_id=made["id"])["subject"] == "run"
    for ending in ("json", "html"):
        ask("get", "reports/{public_id}.{ending}", public_id=made["id"], ending=ending)
    ask("delete", path, public_id=on_board["id"])
