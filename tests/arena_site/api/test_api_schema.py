import json
import re
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client

from accounts.models import SignIn, User
from arena_site.openapi.views import schema_as_json
from benchmarks.models import Run
from benchmarks.results import reports
from leaderboard.releases import planning, publishing
from routing.models import RouterSnapshot
from site_content.actions import publish_page
from site_content.models import PageVersion
from tests import api_fixtures, make
from tests.api_fixtures import World
from tests.site_urls import addresses
from tests.uploads import pictures
from tests.worlds.benchmarks import samples
from uploads.extraction import read_upload

pytestmark = pytest.mark.django_db
DOCS, SCHEMA = "/api/v1/docs/", "/api/v1/schema/"


def closed(schema: Any) -> Any:
    """Return the schema with additionalProperties false everywhere."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    parts = {name: closed(part) for name, part in schema.items()}
    return {"additionalProperties": False, **parts} if "properties" in schema else parts


class Contract:
    """Validates responses against the schema and records the operations."""

    def __init__(self) -> None:
        self.schema = json.loads(schema_as_json())
        self.components = closed(self.schema["components"])
        self.seen: set[tuple[str, str]] = set()

    @property
    def operations(self) -> set[tuple[str, str]]:
        return {(method, route) for route, methods in self.schema["paths"].items() for method in methods}

    def ask(self, client: Client, method: str, route: str, body: Any = None, /, query: str = "", **ids: str) -> Any:
        """Send a request, validate its response and return its JSON; None for others."""
        route = f"/api/v1/{route}"
        address = route.format(**ids) + query
        sent = {} if body is None else {"data": body, "content_type": "application/json"}
        if body and "file" in body:
            sent = {"data": body}  # Django's client sends it as a form
        response = getattr(client, method)(address, **sent)
        described = self.schema["paths"][route][method]["responses"].get(str(response.status_code))
        assert described is not None, f"{method} {address}: {response.status_code} is not in the schema"
        assert response.status_code < 400, response.text
        self.seen.add((method, route))
        if "content" not in described:
            assert b"".join(response) == b""
            return None
        media_type = response["Content-Type"].partition(";")[0]
        assert {media_type, "*/*"} & set(described["content"])
        if media_type != "application/json" or media_type not in described["content"] or response.streaming:
            return None
        shape = closed(described["content"][media_type]["schema"])
        jsonschema.Draft202012Validator({**shape, "components": self.components}).validate(response.json())
        return response.json()


@pytest.mark.slow
def test_schema_is_valid_without_warnings(tmp_path):
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", tmp_path / "schema.yml")


def test_schema_contains_every_api_path():
    found = {address for address in addresses() if address.startswith("/api/")}
    beside = {DOCS, SCHEMA, "/api/{rest}"}
    assert found - beside == set(json.loads(schema_as_json())["paths"])
    assert beside <= found


@pytest.mark.slow
def test_responses_match_schema_without_extra_fields(client: Client, settings):
    """Call every operation."""
    settings.ARENA_PUBLISH_VOTES = True
    member = make.member()
    client.force_login(member.user)
    world, contract = api_fixtures.create_world(member, with_boards=True), Contract()
    ids = world.ids

    def ask(method: str, route: str, body: Any = None, /, **more: str) -> Any:
        return contract.ask(client, method, route, body, **more)

    ask("get", "models/", query="?limit=2&offset=1&drawable=true")
    ask("get", "models/{slug}/", slug="ada")
    for battle in ids["battles"]:
        ask("get", "battles/{public_id}/", public_id=battle)
    ask("get", "battles/{public_id}/stream/", public_id=world.live.public_id)
    ask("post", "battles/{public_id}/stop/", public_id=world.live.public_id)
    ask("post", "battles/{public_id}/feedback/", {"tags": {"right": ["wrong"]}}, public_id=world.voted.public_id)
    for _ in range(2):
        ask("post", "battles/{public_id}/report/", {"reason": "Rude."}, public_id=world.voted.public_id)
    ask("post", "battles/{public_id}/regenerate/", public_id=world.unanswered.public_id)
    ask("post", "battles/{public_id}/vote/", {"choice": "tie"}, public_id=world.waiting.public_id)
    for method in ("post", "delete", "post"):
        ask(method, "battles/{public_id}/publish/", public_id=world.voted.public_id)
    ask("delete", "battles/{public_id}/consent/", public_id=world.voted.public_id)
    ask("get", "sessions/consent/")
    ask("delete", "sessions/consent/")
    assert ask("get", "leaderboard/battles/{public_id}/", public_id=world.voted.public_id)["sides"][0]["elo"]
    share = ask("get", "battles/{public_id}/", public_id=world.voted.public_id)["share"]
    assert share["url"].startswith("/b/")
    assert ask("get", "shares/{public_id}/", public_id=share["id"])["vote"] == {"choice": "left"}
    compared = ask("post", "battles/{public_id}/publish/", public_id=world.compared.public_id)
    [turn] = ask("get", "shares/{public_id}/", public_id=compared["id"])["turns"]
    assert 4 in [answer["stars"] for answer in turn["answers"]]
    for query in ("", "?as=markdown"):
        ask("get", "shares/{public_id}/export/", public_id=share["id"], query=query)
    ask("post", "battles/{public_id}/messages/", {"prompt": "And now?"}, public_id=world.voted.public_id)
    ask("post", "answers/{public_id}/rating/", {"stars": 2}, public_id=world.to_rate)
    ask("post", "sessions/", {"prompt": "Hello", "filters": {}})
    ask("post", "sessions/", {"prompt": "Hello", "mode": "direct", "models": ["ada"]})
    session = world.compared.session.public_id
    ask("post", "sessions/{public_id}/battles/", {"prompt": "Hello"}, public_id=session)
    ask("get", "sessions/", query="?search=one&archived=false")
    ask("get", "sessions/{public_id}/", public_id=session)
    for query in ("", "?as=markdown"):
        ask("get", "sessions/{public_id}/export/", public_id=session, query=query)
    ask("patch", "sessions/{public_id}/", {"title": "New", "archived": True}, public_id=session)
    ask("delete", "sessions/{public_id}/", public_id=session)
    ask("post", "sessions/{public_id}/restore/", public_id=session)
    ask("delete", "sessions/{public_id}/", public_id=session, query="?for_good=true")

    assert len(ask("get", "boards/")["results"]) > 1
    for board in ids["boards"]:
        for style in ("", "&style_control=true"):
            ask("get", "leaderboard/", query=f"?board={board}{style}&sort_by=price&order=asc")
    ask("get", "leaderboard/", query="?as=csv")
    assert ask("get", "leaderboard/models/{slug}/", slug="ada")["opponents"]
    assert ask("get", "leaderboard/history/", query="?models=ada,bob")["series"][0]["points"]
    assert ask("get", "leaderboard/head-to-head/", query="?a=ada&b=bob")["expected"]
    ask("get", "leaderboard/head-to-head/", query="?a=ada&b=cyd")
    assert ask("get", "leaderboard/matrix/")["pairs"]
    ask("get", "leaderboard/snapshots/", query="?board=overall")
    for snapshot in ids["snapshots"]:
        ask("get", "leaderboard/snapshots/{public_id}/", public_id=snapshot)
    for ending in ("jsonl", "csv", "parquet"):
        ask("get", "exports/votes.{ending}", ending=ending)
        ask("get", "exports/stars.{ending}", ending=ending)
    release = planning.plan_release()
    publishing.publish_due()
    assert ask("get", "releases/")["count"] == 1
    for name in ("votes.parquet", "SHA256SUMS"):
        ask("get", "releases/{day}/{name}", day=str(release), name=name)
    staff = make.browser(make.member(is_staff=True, is_superuser=True))
    contract.ask(staff, "get", "exports/interactions.{ending}", query="?mode=blind", ending="csv")

    for content, name in ((b"More text.", "more.txt"), (pictures.picture(width=3), "small.png")):
        ask("post", "uploads/", {"file": SimpleUploadedFile(name, content)})
    ask("get", "uploads/")
    for upload in ids["uploads"]:
        ask("get", "uploads/{public_id}/", public_id=upload)
        ask("get", "uploads/{public_id}/file/", public_id=upload)
    ask("get", "uploads/{public_id}/text/", public_id=world.document.public_id)
    read_upload(world.picture.pk)
    ask("get", "uploads/{public_id}/image/", public_id=world.picture.public_id)
    ask("post", "sessions/", {"prompt": "Hello", "attachments": [world.document.public_id]})
    assert ask("get", "sessions/", query=f"?upload={world.document.public_id}")["count"] == 1
    ask("delete", "uploads/{public_id}/", public_id=world.picture.public_id)

    publish_page(page=PageVersion.Page.TERMS, texts={"en": "Be kind."}, must_be_accepted=True, by=None)
    ask("get", "site/")
    ask("get", "site/pages/{page}/", page="terms")
    ask("post", "me/terms/", {"version": 1})
    assert ask("get", "me/terms/")["is_accepted"]
    assert ask("get", "feedback-tags/")["count"] == 9
    ask("get", "suggestions/")

    ask_about_benchmarks(ask, member.user, ids)
    ask_about_auto_mode(ask, world)

    ask("get", "me/")
    assert ask("get", "me/votes/")["results"]
    made = ask("post", "me/tokens/", {"name": "t", "scopes": ["read"], "expires_at": "2100-01-01T00:00:00Z"})
    ask("get", "me/tokens/")
    other = make.browser(member)
    elsewhere = SignIn.objects.get(session=other.session.session_key).public_id
    assert [row["is_this_one"] for row in ask("get", "me/browsers/")["results"]] == [False, True]
    ask("delete", "me/browsers/{public_id}/", public_id=elsewhere)
    ask("delete", "me/browsers/others/")
    ask("delete", "me/tokens/{public_id}/", public_id=made["id"])
    ask("get", "me/export/")
    client.post("/accounts/reauthenticate/", {"password": "a-good-password"})
    ask("delete", "me/")
    assert contract.operations - contract.seen == set()


def ask_about_auto_mode(ask: Callable[..., Any], world: World) -> None:
    decision = world.decision.public_id
    asked = {
        "prompt": "Hello",
        "context": {"workflow": "mail"},
        "dial": 0.2,
        "max_cost": "0.5",
        "models": ["ada", "bob"],
    }
    assert ask("post", "route/", asked)["reason"]["code"] == "few_votes"
    assert ask("get", "route/decisions/", query="?target=model")["count"] == 2
    ask("post", "route/decisions/{public_id}/outcome/", {"better": "model"}, public_id=decision)
    assert ask("get", "route/decisions/{public_id}/", public_id=decision)["outcome"]["better"] == "model"
    RouterSnapshot.objects.create(slot="1", state="published", heads=[{"name": "labels", "passed": True}])
    ask("get", "route/snapshots/")
    chat = ask("post", "sessions/", {"prompt": "Hello", "mode": "auto", "dial": "cheap", "context": {"tools": True}})
    assert chat["battles"][0]["decision"]["target"] == "model"


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
    ask("delete", f"{templates}{{public_id}}/", public_id=made)
    assert ask("get", templates)["results"][0]["version"]
    for path in ("", "versions/", "export.yaml"):
        ask("get", f"{templates}{{public_id}}/{path}", public_id=template)
    body = {"template": template, "version": 1, "models": ["ada"]}
    assert ask("post", "benchmarks/estimate/", body)["items"] == 8
    ask_about_reports(ask, Run.objects.get(public_id=run), owner)
    grade = {"kind": "stars", "value": 4}
    assert ask("post", "benchmarks/items/{public_id}/grade/", grade, public_id=item)["value"] == 4
    table = SimpleUploadedFile("cases.csv", b"country,expected\nFrance,Paris\n")
    look = ask("post", "benchmarks/imports/", {"file": table})
    assert (look["cases"], look["format"]) == (1, "table")
    imported = ask("post", "benchmarks/imports/{public_id}/apply/", {}, public_id=look["id"])["id"]
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


def ask_about_reports(ask: Callable[..., Any], run: Run, owner: User) -> None:
    other = samples.finished_run(owner, run.version, [entrant.model for entrant in run.entrants.all()])
    for each in (run, other):
        reports.store_report(each, reports.compute_report(each))
    path = "benchmarks/runs/{public_id}/"
    assert ask("get", f"{path}report/", public_id=run.public_id)["report"]["metrics"]
    compared = ask("get", f"{path}compare/", query=f"?with={other.public_id}", public_id=run.public_id)
    assert compared["comparison"]["entrants"]
    assert ask("get", "benchmarks/heatmap/", query="?average=1")["cells"]
    for ending in ("jsonl", "csv", "parquet", "xlsx", "json", "inspect"):
        ask("get", "benchmarks/runs/{public_id}/export.{ending}", public_id=run.public_id, ending=ending)
    for readers in ("numbers", "none"):
        ask("post", f"{path}publish/", {"readers": readers}, public_id=run.public_id)
    assert ask("post", f"{path}rescore/", public_id=other.public_id)["state"] == "scoring"


def test_empty_responses_match_schema(client: Client):
    make.model(slug="ada")
    contract = Contract()
    for route, query in [
        ("me/", ""), ("boards/", ""), ("leaderboard/", ""), ("leaderboard/matrix/", ""), ("leaderboard/snapshots/", ""),
        ("sessions/", ""), ("models/", ""), ("benchmarks/templates/", ""), ("benchmarks/runs/", ""),
        ("leaderboard/history/", "?models=ada"), ("route/decisions/", ""), ("route/snapshots/", ""),
    ]:  # fmt: skip
        contract.ask(client, "get", route, query=query)
    contract.ask(client, "get", "leaderboard/models/{slug}/", slug="ada")


def test_operations_have_descriptions_and_valid_examples():
    schema = json.loads(schema_as_json())
    components, tags = closed(schema["components"]), set()
    for route, methods in schema["paths"].items():
        for method, operation in methods.items():
            assert operation["description"].partition("A token needs")[0], f"{method} {route}"
            tags.update(operation["tags"])
            refusals = [response for status, response in operation["responses"].items() if int(status) >= 400]
            bodies = [
                body["content"].get("application/json") for body in [operation.get("requestBody"), *refusals] if body
            ]
            for part in filter(None, bodies):
                assert part["examples"], f"{method} {route}"
                shape = {**closed(part["schema"]), "components": components}
                for example in part["examples"].values():
                    jsonschema.Draft202012Validator(shape).validate(example["value"])
    assert tags == {tag["name"] for tag in schema["tags"] if tag["description"]}


def test_schema_is_public(client: Client):
    read = client.get(SCHEMA)
    assert (read.status_code, read["Content-Type"]) == (200, "application/vnd.oai.openapi+json")
    assert read.json()["openapi"].startswith("3.1")
    assert client.get(SCHEMA, headers={"Authorization": "Bearer arena_wrong"}).status_code == 401


def test_operation_names_required_token_scope():
    paths = json.loads(schema_as_json())["paths"]
    assert paths["/api/v1/battles/{public_id}/vote/"]["post"]["security"] == [{"token": ["vote"]}, {"browser": []}, {}]
    assert "A token needs the scope `vote`." in paths["/api/v1/battles/{public_id}/vote/"]["post"]["description"]
    assert paths["/api/v1/me/tokens/"]["post"]["security"] == [{"browser": []}]
    assert "A token needs" not in paths["/api/v1/me/tokens/"]["post"]["description"]


def test_binary_files_are_described_as_binary():
    paths = json.loads(schema_as_json())["paths"]
    uploads = paths["/api/v1/uploads/{public_id}/image/"]["get"]["responses"]["200"]["content"]
    assert {media["schema"]["format"] for media in uploads.values()} == {"binary"}
    votes = paths["/api/v1/exports/votes.{ending}"]["get"]["responses"]["200"]["content"]
    assert {name for name, media in votes.items() if media["schema"].get("format") == "binary"} == {
        "application/vnd.apache.parquet"
    }


def test_documentation_loads_own_scripts_and_styles_only(client: Client):
    page = client.get(DOCS).text
    loaded = re.findall(r'<(?:script[^>]*src|link[^>]*href)="([^"]*)"', page)
    assert any("swagger-ui-bundle" in address for address in loaded)
    assert all(address.startswith("/static/") for address in loaded)
    assert not re.search(r"<script(?![^>]*src)|<style|\son\w+=|style=", page)
