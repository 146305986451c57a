"""The API of benchmarks: bad input, held-out contents, idempotency (access: tests/arena_site/security)."""

import json
from typing import Any

import pytest
from django.test import Client

from accounts.actor import Actor
from accounts.models import AuditEntry, Scope
from benchmarks.actions import leave_out
from benchmarks.exports.formats import WRITERS
from benchmarks.exports.run_export import RunExport
from benchmarks.models import Case, Run, Template, TemplateVersion
from benchmarks.reports.item_rows import item_rows
from benchmarks.reports.store import compute_report, store_report
from benchmarks.statistics.recompute import recompute
from models_registry.models import LanguageModel, Price
from tests import make
from tests.benchmarks.test_preparation import GROWS
from tests.worlds.benchmarks import samples
from tests.worlds.benchmarks.samples import Sample

pytestmark = [pytest.mark.django_db, pytest.mark.processes]
API = "/api/v1/benchmarks"
LONG = "{% for i in range(999) %}" + 300 * "x" + "{% endfor %}"


def program(actor: Actor) -> Client:
    return make.api(actor.user, scopes=[Scope.READ, Scope.BENCHMARK])


def send(client: Client, path: str, body: Any, method: str = "post", **headers: str) -> Any:
    return getattr(client, method)(f"{API}/{path}", body, content_type="application/json", headers=headers)


@pytest.mark.parametrize(
    ("changes", "status", "words"),
    [
        ({"models": []}, 400, "1 to 50"),
        ({"models": ["ada"], "entrants": [{"model": "ada"}]}, 400, "Each entrant takes part once"),
        ({"repeats": 0}, 400, "greater than or equal to 1"),
        ({"repeats": 33}, 400, "less than or equal to 32"),
        ({"concurrency": 0}, 400, "greater than or equal to 1"),
        ({"parameters": {"heat": 1}}, 400, "“heat” is not a sampling parameter"),
        ({"models": ["eve"]}, 422, "There is no model “eve”."),
        ({"models": ["retired"]}, 422, "Retired is not active."),
        ({"models": ["paid"]}, 422, "A run of paid models needs a budget."),
        ({"models": ["paid"], "budget": "0.00000001"}, 422, "which one call of Paid may cost"),
        ({"models": ["keyless"]}, 422, "keyless"),
        ({"entrants": [{"prompt": 1}]}, 400, "required"),
        ({"repeats": 32, "models": ["ada", "bob"], "version": 2}, 400, "at most 200"),
        ({"template": "empty", "version": 1}, 400, "0 cases"),
        ({"reuse_days": 366}, 400, "less than or equal to 365"),
        ({"entrants": [{"model": "ada", "prompt": 2}]}, 422, "The template has no prompt 2."),
        ({"version": 7}, 404, "does not exist"),
        ({"template": "none"}, 404, "does not exist"),
    ],
)
def test_run_that_cannot_be_is_refused(
    member: Actor, sample: Sample, changes: dict[str, Any], status: int, words: str, monkeypatch: pytest.MonkeyPatch
):
    make.model(name="Retired", slug="retired", status="retired")
    paid = make.model(name="Paid", slug="paid")
    Price.objects.create(model=paid, input_per_million=1, output_per_million=1)
    make.provider("http://127.0.0.1:8/v1", needs_key=True)
    make.model(slug="keyless", at="http://127.0.0.1:8/v1")
    Template.objects.filter(pk=samples.template(member.user, cases=False).pk).update(public_id="empty")
    monkeypatch.setattr(Run, "MAX_ITEMS", 200)
    body = {"template": sample.template.public_id, "version": 1, "models": ["ada"], **changes}
    if "entrants" in changes and "models" not in changes:
        del body["models"]
    response = send(program(member), "runs/", body)
    assert (response.status_code, words in response.text) == (status, True), response.text
    assert Run.objects.count() == 1


@pytest.mark.parametrize(
    ("cases", "words"),
    [
        ([{"key": "a"}, {"key": "b"}, {"key": "a"}], "Case 3: another case has the key “a”."),
        ([{"key": "new"}, {"key": "france"}], "already has a case “france”"),
    ],
)
def test_cases_with_repeated_keys_are_refused_whole(member: Actor, cases: list[dict[str, Any]], words: str):
    template = samples.template(member.user)
    response = send(program(member), f"templates/{template.public_id}/cases/", {"cases": cases})
    assert response.status_code == 422
    assert words in response.text
    assert Case.objects.count() == 8


@pytest.mark.parametrize("value", ["1e999", "1e400", '"a\\u0000"', '"\\ud800"', "NaN"])
def test_values_that_cannot_be_stored_are_refused(member: Actor, value: str):
    template = samples.template(member.user)
    for body in (f'{{"cases": [{{"variables": {{"x": [{value}]}}}}]}}', f'{{"cases": [{{"expected": [{value}]}}]}}'):
        assert send(program(member), f"templates/{template.public_id}/cases/", body).status_code == 400
    assert Case.objects.count() == 8


def test_bad_checks_name_their_place(member: Actor):
    template = samples.template(member.user)
    cases = {"cases": [{}, {"checks": [{"scorer": "regex", "target": ["("]}]}]}
    refused = send(program(member), f"templates/{template.public_id}/cases/", cases)
    assert (refused.status_code, "checks[0]: " in refused.text) == (422, True)
    checks = [{"key": "a", "scorer": "contains"}, {"key": "b", "scorer": "contains", "settings": {"nonsense": 1}}]
    response = send(program(member), "templates/", {"name": "T", "checks": checks})
    assert (response.status_code, response.json()["code"]) == (422, "checks_refused")
    assert "checks[1]: " in response.json()["fields"]["checks"][0]
    assert Template.objects.count() == 1


REMOTE = {"$ref": "http://127.0.0.1:1/schema.json"}


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ({"variables": {"properties": {"country": REMOTE}}}, "variables"),
        ({"checks": [{"key": "a", "scorer": "json_schema", "settings": {"schema": REMOTE}}]}, "checks[0]"),
        ({"checks": [{"key": "a", "scorer": "regex", "target": ["(a)\\1"]}]}, "checks[0]"),
        ({"checks": [{"key": "a", "scorer": "expression", "settings": {"expression": "1 +"}}]}, "checks[0]"),
        ({"checks": [{"key": "a", "scorer": "unknown"}]}, "checks[0]"),
        ({"prompts": [{"messages": [{"role": "user", "template": "{{ country"}]}]}, "prompts[0].messages[0]"),
        (
            {"prompts": [{"messages": [{"role": "user", "template": "\n {{ land }}"}]}]},
            "cases[france]: prompt 1, line 2, column 5: “land” is not defined.",
        ),
        (
            {"prompts": [{"messages": [{"role": "user", "template": LONG}]}]},
            "cases[france]: the prompt has over 200000 characters.",
        ),
        (
            {"prompts": [{"messages": [{"role": "user", "template": GROWS}]}]},
            "cases[france]: the prompt takes too much time or memory.",
        ),
    ],
)
def test_bad_content_is_refused_at_freezing(member: Actor, content: dict[str, Any], place: str):
    path, client = f"templates/{samples.template(member.user).public_id}/", program(member)
    changed = send(client, path, {"name": "T", **content}, "put")
    refused = changed if changed.status_code != 200 else send(client, f"{path}freeze/", {})
    assert (refused.status_code, place in refused.text) == (422, True), refused.text
    assert not TemplateVersion.objects.filter(state="frozen").exists()


def test_what_was_done_is_not_done_again(member: Actor, sample: Sample):
    client, path = program(member), f"runs/{sample.run.public_id}/"
    for move in ("start", "pause", "resume", "cancel"):
        assert send(client, f"{path}{move}/", {}).status_code == 409
    Run.objects.update(budget=2, spent=1)
    assert send(client, path, {"budget": "0.5"}, "patch").json()["code"] == "run_not_possible"


def test_estimate_has_time_and_power(member: Actor, sample: Sample):
    client, body = program(member), {"template": sample.template.public_id, "models": ["ada"], "concurrency": 1}
    estimate = send(client, "estimate/", body).json()
    assert (estimate["items"], estimate["minutes"], estimate["power"]) == (8, 1, None)
    assert send(client, "estimate/", {**body, "repeats": 32}).json()["minutes"] == 4  # 8 × 32 × 0.9 s
    run = samples.finished_run(member.user, sample.run.version, [make.model(slug="cyd"), make.model(slug="dan")])
    run.items.filter(state="failed").update(state="scored", error="", score=1.0, passed=True)
    store_report(run, compute_report(run))
    power = send(client, "estimate/", body).json()["power"]
    assert (power["cases"], 0 < power["difference"] < 1) == (8, True)
    make.model(slug="new")
    assert send(client, "estimate/", {**body, "models": ["ada", "new"]}).json()["minutes"] is None


def test_frozen_version_and_template_with_runs_stay(member: Actor, models: list[LanguageModel]):
    template, client = samples.template(member.user), program(member)
    samples.finished_run(member.user, template.versions.get(), models)
    path = f"templates/{template.public_id}/"
    assert send(client, f"{path}cases/", {"cases": [{}]}).status_code == 409
    assert send(client, path, {"name": "New", "checks": []}, "put").json()["code"] == "wrong_state"
    assert client.delete(f"{API}/{path}").json()["code"] == "template_in_use"
    archived = send(client, path, {"name": "Old", "archived": True}, "put").json()
    assert (archived["name"], archived["archived"]) == ("Old", True)
    assert client.get(f"{API}/templates/").json()["count"] == 0
    assert send(client, f"{path}versions/", {}).json()["number"] == 2
    changed = send(client, path, {"name": "New", "checks": []}, "put").json()
    assert (changed["checks"], changed["prompts"][0]["label"], changed["archived"]) == ([], "plain", False)
    assert template.versions.get(number=1).checks.count() == 1


def test_run_is_started_once_and_changed(member: Actor, sample: Sample):
    client, body = program(member), {"template": sample.template.public_id, "version": 1, "models": ["bob"]}
    first, again = (send(client, "runs/", body, **{"Idempotency-Key": "k"}) for _ in range(2))
    assert (first.status_code, again.status_code, first.json()["id"]) == (202, 202, again.json()["id"])
    assert Run.objects.count() == 2
    path = f"runs/{first.json()['id']}/"
    assert send(client, f"{path}resume/", {}).json()["code"] == "wrong_state"
    assert send(client, path, {"budget": "1"}, "patch").json()["code"] == "run_not_possible"
    assert send(client, f"{path}cancel/", {}).json()["state"] == "cancelled"
    assert send(client, f"{path}cancel/", {}).status_code == 409
    assert client.get(f"{API}/{path}stream/").status_code == 404


def test_model_is_left_out_by_the_owner_alone(member: Actor, models: list[LanguageModel], sample: Sample):
    run = samples.live_run(member.user, sample.run.version, models)
    bob, path = run.entrants.get(model=models[1]), f"runs/{run.public_id}/leave-out/"
    samples.answer(bob.items.earliest("pk"), "Paris", is_right=True)
    client, reader = program(member), program(make.member())
    assert send(reader, path, {"entrant": bob.pk}).status_code == 404
    assert send(client, path, {"entrant": sample.item.entrant_id}).json()["fields"].keys() == {"entrant"}
    assert send(client, path, {}).status_code == 400
    assert [send(client, path, {"entrant": bob.pk}).status_code for _ in range(2)] == [200, 200]
    shown = client.get(f"{API}/runs/{run.public_id}/").json()
    [ada, left_out] = shown["entrants"]
    assert (ada["left_out_at"], left_out["counts"]) == (None, {"scored": 1, "left_out": 7})
    assert left_out["left_out_at"] is not None
    assert AuditEntry.objects.get().action == "leave out of run"
    of_bob = f"{API}/runs/{run.public_id}/items/?state=left_out"
    assert {item["entrant"] for item in client.get(of_bob).json()["results"]} == {bob.pk}
    refused = send(client, f"runs/{sample.run.public_id}/leave-out/", {"entrant": sample.item.entrant_id})
    assert (refused.status_code, refused.json()["code"]) == (409, "wrong_state")
    assert "while the run is under way" in refused.json()["detail"]


def test_report_so_far_is_the_owners_and_has_no_number(member: Actor, models: list[LanguageModel], sample: Sample):
    run = samples.live_run(member.user, sample.run.version, models)
    for item in run.items.filter(case=sample.item.case_id).select_related("entrant__model", "run"):
        samples.answer(item, "Paris", is_right=True)
    path = f"{API}/runs/{run.public_id}/report/"
    client = program(member)
    report = client.get(path).json()
    assert report == client.get(f"{path}?number=0").json()
    assert (report["number"], report["left_out"]) == (0, [])
    assert [mean["scored"] for mean in report["report"]["metrics"][0]["means"]] == [1, 1]
    assert client.get(f"{path}?number=1").status_code == 404
    Run.objects.filter(pk=run.pk).update(published_at=run.created_at)
    assert program(make.member()).get(path).status_code == 404
    assert client.get(f"{API}/runs/{sample.run.public_id}/report/?number=0").status_code == 404


def test_reports_and_comparisons_name_who_was_left_out(member: Actor, models: list[LanguageModel], sample: Sample):
    run = samples.live_run(member.user, sample.run.version, models)
    for item in run.items.filter(entrant__model=models[0]).select_related("entrant__model", "run"):
        samples.answer(item, "Paris", is_right=True)
    bob = run.entrants.get(model=models[1])
    leave_out(run, bob, by=member.user)
    Run.objects.filter(pk=run.pk).update(state="done")
    run.refresh_from_db()
    store_report(run, compute_report(run))
    client, path = program(member), f"{API}/runs/{run.public_id}"
    expected = [{"run": run.public_id, "entrant": bob.pk, "name": "Model bob", "answers": 0, "items": 8}]
    assert client.get(f"{path}/report/").json()["left_out"] == expected
    assert client.get(f"{path}/compare/?with={sample.run.public_id}").json()["left_out"] == expected
    exported = json.loads(b"".join(WRITERS["json"](RunExport(run))))
    assert exported["run"]["left_out"] == [{"entrant": "001", "answers": 0, "items": 8}]
    assert [item["state"] for item in exported["items"]] == ["scored"] * 8 + ["left_out"] * 8
    for ending, write in WRITERS.items():
        assert b"".join(write(RunExport(run))), ending
    assert compute_report(run) == recompute(item_rows(run))
    browser, pages = make.browser(member), f"/benchmarks/r/{run.public_id}"
    sentence = "Model bob was left out of the run, with 0 of 8 scores."
    for page in ("/", "/report/", "/report.html"):
        assert sentence in browser.get(pages + page).text
    compared = browser.get(f"{pages}/compare/?with={sample.run.public_id}")
    assert "was left out of the run “Under way”, with 0 of 8 answers." in compared.text


def test_items_are_filtered_and_paged(member: Actor, sample: Sample):
    client, url = program(member), f"{API}/runs/{sample.run.public_id}/items/"
    bob = client.get(f"{API}/runs/{sample.run.public_id}/").json()["entrants"][1]

    def cases(query: str) -> list[str]:
        return [item["case"] for item in client.get(f"{url}?{query}").json()["results"]]

    assert cases("state=failed") == ["japan"]
    assert cases(f"entrant={bob['id']}&tag=europe") == ["france", "norway"]
    assert cases("search=Nairobi") == ["kenya", "kenya"]
    assert client.get(f"{url}?cursor=x").status_code == 400
    seen, address = [], f"{url}?limit=7"
    while address:
        page = client.get(address).json()
        seen += [item["id"] for item in page["results"]]
        address = page["next"]
    assert len(seen) == len(set(seen)) == 16


def test_held_out_contents_are_the_owners_alone(member: Actor, sample: Sample):
    Template.objects.update(held_out=True, visibility="site")
    Run.objects.update(published_at=sample.run.created_at)
    template, item = f"templates/{sample.template.public_id}", f"items/{sample.run.public_id}-{sample.item.pk}"
    owner, stranger = program(member), program(make.member())
    assert "capital of" in owner.get(f"{API}/{template}/").text
    assert owner.get(f"{API}/{item}/").json()["turns"][0]["text"] == "It is **Paris**."
    assert stranger.get(f"{API}/{template}/").json()["prompts"] is None
    hidden = [stranger.get(f"{API}/{path}/").status_code for path in (f"{template}/cases", item)]
    assert hidden == [404, 404]
    run = stranger.get(f"{API}/runs/{sample.run.public_id}/").json()
    assert (run["spent"], run["budget"], run["problems"]) == (None, None, [])
    assert stranger.get(f"{API}/runs/{sample.run.public_id}/items/?search=Paris").json()["results"] == []


def test_only_administrators_share_templates_with_the_site(member: Actor):
    body = {"name": "T", "visibility": "site"}
    assert send(program(member), "templates/", body).status_code == 403
    admin = make.member(is_staff=True, is_superuser=True)
    assert send(program(admin), "templates/", body).json()["visibility"] == "site"
    assert AuditEntry.objects.get().action == "share template with site"
    assert Template.objects.count() == 1


def test_visitors_read_what_is_public(sample: Sample):
    assert Client().get(f"{API}/templates/").json()["count"] == 0
    assert send(Client(), "templates/", {"name": "T"}).status_code == 401
