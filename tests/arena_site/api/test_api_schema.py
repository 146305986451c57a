import json
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import jsonschema
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client

from accounts.models import SignIn, Team
from arena_site.openapi.views import schema_as_json
from battles.models import Share
from benchmarks.models import LiveJudge
from leaderboard.releases import planning, publishing
from routing.models import RouterSnapshot
from site_content.actions import publish_page
from site_content.models import PageVersion
from tests import api_fixtures, make
from tests.api_fixtures import World
from tests.arena_site.api.benchmark_requests import ask_about_benchmarks, ask_about_reviews
from tests.site_urls import addresses
from tests.uploads import pictures
from tests.worlds.benchmarks import judged_runs
from uploads.actions import keep_upload
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


class Ask(NamedTuple):
    """Request to an operation. parameters: values of the route's, in their order. has: true for the response's JSON."""

    method: str
    route: str
    parameters: Sequence[str] = ()
    body: Any = None
    query: str = ""
    has: Callable[[Any], object] = lambda _: True


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
        validator = jsonschema.Draft202012Validator({**shape, "components": self.components})
        error = jsonschema.exceptions.best_match(validator.iter_errors(response.json()))
        assert error is None, f"{method} {address}: {error}"
        return response.json()

    def ask_all(self, client: Client, requests: Iterable[Ask]) -> None:
        for request in requests:
            ids = dict(zip(re.findall(r"{(\w+)}", request.route), request.parameters, strict=True))
            payload = self.ask(client, request.method, request.route, request.body, query=request.query, **ids)
            assert request.has(payload), f"{request.method} {request.route}: {payload}"


@pytest.mark.slow
def test_schema_is_valid_without_warnings(tmp_path):
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", tmp_path / "schema.yml")


def test_schema_contains_every_api_path():
    paths = {address for address in addresses() if address.startswith("/api/")}
    without_schema = {DOCS, SCHEMA, "/api/{rest}"}
    assert paths - without_schema == set(json.loads(schema_as_json())["paths"])
    assert without_schema <= paths


@pytest.mark.slow
def test_responses_match_schema_without_extra_fields(client: Client, settings):
    """Call every operation."""
    settings.ARENA_PUBLISH_VOTES = True
    member = make.member()
    client.force_login(member.user)
    world, contract = api_fixtures.create_world(member, with_boards=True), Contract()
    ask = partial(contract.ask, client)

    contract.ask_all(client, [*about_models(), *about_battles(world)])
    share, compared = (Share.objects.get(battle=battle).public_id for battle in (world.voted, world.compared))
    LiveJudge.objects.create(judge=judged_runs.judge(make.model(), member.user), is_on=True)
    contract.ask_all(client, [*about_shares(share, compared), *about_sessions(world), *about_boards(world)])
    release = planning.plan_release()
    publishing.publish_due()
    contract.ask_all(client, about_exports(str(release)))
    staff = make.browser(make.member(is_staff=True, is_superuser=True))
    contract.ask(staff, "get", "exports/interactions.{ending}", query="?mode=blind", ending="csv")
    contract.ask(staff, "get", "metrics/", query="?metric=battles&by=mode")
    contract.ask(staff, "get", "metrics/catalogue/")
    read_upload(world.picture.pk)
    contract.ask_all(client, about_uploads(world))
    publish_page(page=PageVersion.Page.TERMS, texts={"en": "Be kind."}, must_be_accepted=True, by=None)
    contract.ask_all(client, about_site())
    ask_about_benchmarks(ask, member.user, world.ids)
    ask_about_reviews(ask, client, member.user)
    ask_about_auto_mode(ask, world)
    contract.ask_all(client, about_person())
    settings.ARENA_TEAMS = "members"
    ask_about_teams(ask)
    ask_about_spending(ask, make.team(member.user))
    ask_about_tokens_and_browsers(ask, make.browser(member))
    client.post("/accounts/reauthenticate/", {"password": "a-good-password"})
    ask("delete", "me/")
    assert contract.operations - contract.seen == set()


def about_models() -> list[Ask]:
    return [Ask("get", "models/", query="?limit=2&offset=1&drawable=true"), Ask("get", "models/{slug}/", ["ada"])]


def about_battles(world: World) -> list[Ask]:
    voted, live, unanswered, waiting, compared = (
        [battle.public_id] for battle in (world.voted, world.live, world.unanswered, world.waiting, world.compared)
    )
    report = Ask("post", "battles/{public_id}/report/", voted, {"reason": "Rude."})
    publish, path = Ask("post", "battles/{public_id}/publish/", voted), "battles/{public_id}/"
    return [
        *(Ask("get", path, [battle]) for battle in world.ids["battles"]),
        Ask("get", f"{path}stream/", live),
        Ask("post", f"{path}stop/", live),
        Ask("post", f"{path}feedback/", voted, {"tags": {"right": ["wrong"]}}),
        report, report,
        Ask("post", f"{path}regenerate/", unanswered),
        Ask("post", f"{path}vote/", waiting, {"choice": "tie"}),
        publish, Ask("delete", f"{path}publish/", voted), publish,
        Ask("delete", f"{path}gallery/", voted),
        Ask("post", f"{path}gallery/", voted, has=lambda page: page["listed"]),
        Ask("delete", f"{path}consent/", voted),
        Ask("get", "sessions/consent/"),
        Ask("delete", "sessions/consent/"),
        Ask("get", "leaderboard/battles/{public_id}/", voted, has=lambda places: places["sides"][0]["elo"]),
        Ask("get", path, voted, has=lambda battle: battle["share"]["url"].startswith("/b/")),
        Ask("post", f"{path}publish/", compared),
    ]  # fmt: skip


def about_shares(share: str, compared: str) -> list[Ask]:
    path = "shares/{public_id}/"
    return [
        Ask("get", path, [share], has=lambda battle: battle["vote"] == {"choice": "left"}),
        Ask("get", path, [compared], has=lambda battle: 4 in [row["stars"] for row in battle["turns"][0]["answers"]]),
        Ask("get", "gallery/", query="?model=ada&vote=won", has=lambda gallery: gallery["results"][0]["id"] == share),
        Ask("get", "statistics/", query="?bucket=week", has=lambda statistics: len(statistics["figures"]) == 5),
        Ask("get", "statistics/", query="?figure=people&as=csv"),
        Ask("get", f"{path}export/", [share]),
        Ask("get", f"{path}export/", [share], query="?as=markdown"),
    ]


def about_sessions(world: World) -> list[Ask]:
    session, path = [world.compared.session.public_id], "sessions/{public_id}/"
    return [
        Ask("post", "battles/{public_id}/messages/", [world.voted.public_id], {"prompt": "And now?"}),
        Ask("post", "answers/{public_id}/rating/", [world.to_rate], {"stars": 2}),
        Ask("post", "sessions/", body={"prompt": "Hello", "filters": {}}),
        Ask("post", "sessions/", body={"prompt": "Hello", "mode": "direct", "models": ["ada"]}),
        Ask("post", f"{path}battles/", session, {"prompt": "Hello"}),
        Ask("get", "sessions/", query="?search=one&archived=false"),
        Ask("get", path, session),
        Ask("get", f"{path}export/", session),
        Ask("get", f"{path}export/", session, query="?as=markdown"),
        Ask("patch", path, session, {"title": "New", "archived": True}),
        Ask("delete", path, session),
        Ask("post", f"{path}restore/", session),
        Ask("delete", path, session, query="?for_good=true"),
    ]


def about_boards(world: World) -> list[Ask]:
    return [
        Ask("get", "boards/", has=lambda boards: boards["results"]),
        *(
            Ask("get", "leaderboard/", query=f"?board={board}{style}&sort_by=price&order=asc")
            for board in world.ids["boards"]
            for style in ("", "&style_control=true")
        ),
        Ask("get", "leaderboard/", query="?as=csv"),
        Ask("get", "leaderboard/", query="?board=mine", has=lambda board: board["results"]),
        Ask("get", "leaderboard/models/{slug}/", ["ada"], has=lambda model: model["opponents"]),
        Ask(
            "get", "leaderboard/history/", query="?models=ada,bob",
            has=lambda history: history["series"][0]["points"],
        ),
        Ask("get", "leaderboard/head-to-head/", query="?a=ada&b=bob", has=lambda pair: pair["expected"]),
        Ask("get", "leaderboard/head-to-head/", query="?a=ada&b=cyd"),
        Ask("get", "leaderboard/matrix/", has=lambda matrix: matrix["pairs"]),
        Ask("get", "leaderboard/judged/", has=lambda judged: judged["results"][0]["judge"] == "Judge"),
        Ask("get", "leaderboard/snapshots/", query="?board=overall"),
        *(Ask("get", "leaderboard/snapshots/{public_id}/", [snapshot]) for snapshot in world.ids["snapshots"]),
    ]  # fmt: skip


def about_exports(release: str) -> list[Ask]:
    return [
        *(
            Ask("get", f"exports/{rows}.{{ending}}", [ending])
            for ending in ("jsonl", "csv", "parquet")
            for rows in ("votes", "stars", "judged")
        ),
        Ask("get", "releases/", has=lambda releases: releases["count"] == 1),
        Ask("get", "releases/{day}/{name}", [release, "votes.parquet"]),
        Ask("get", "releases/{day}/{name}", [release, "SHA256SUMS"]),
    ]


def about_uploads(world: World) -> list[Ask]:
    document, picture, path = [world.document.public_id], [world.picture.public_id], "uploads/{public_id}/"
    polish = keep_upload(actor=world.actor, content="Zażółć gęślą jaźń.".encode("cp1250"), name="polish.txt")
    return [
        Ask("post", "uploads/", body={"file": SimpleUploadedFile("more.txt", b"More text.")}),
        Ask("post", "uploads/", body={"file": SimpleUploadedFile("small.png", pictures.picture(width=3))}),
        Ask("get", "uploads/"),
        *(Ask("get", f"{path}{part}", [upload]) for upload in world.ids["uploads"] for part in ("", "file/")),
        Ask("get", f"{path}text/", document),
        Ask("get", f"{path}image/", picture),
        Ask("post", f"{path}encoding/", [polish.public_id], body={"encoding": "ISO-8859-2"}),
        Ask("post", "sessions/", body={"prompt": "Hello", "attachments": document}),
        Ask("get", "sessions/", query=f"?upload={document[0]}", has=lambda sessions: sessions["count"] == 1),
        Ask("delete", path, picture),
    ]


def about_site() -> list[Ask]:
    return [
        Ask("get", "site/"),
        Ask("get", "site/pages/{page}/", ["terms"]),
        Ask("post", "me/terms/", body={"version": 1}),
        Ask("get", "me/terms/", has=lambda terms: terms["is_accepted"]),
        Ask("get", "feedback-tags/", has=lambda tags: tags["count"] == 9),
        Ask("get", "suggestions/"),
    ]


def about_person() -> list[Ask]:
    return [
        Ask("get", "me/"),
        Ask("get", "me/votes/", has=lambda votes: votes["results"]),
        Ask("get", "me/tokens/"),
        Ask("get", "me/export/"),
    ]


def ask_about_tokens_and_browsers(ask: Callable[..., Any], other: Client) -> None:
    made = ask("post", "me/tokens/", {"name": "t", "scopes": ["read"], "expires_at": "2100-01-01T00:00:00Z"})
    elsewhere = SignIn.objects.get(session=other.session.session_key).public_id
    assert [row["is_this_one"] for row in ask("get", "me/browsers/")["results"]] == [False, True]
    ask("delete", "me/browsers/{public_id}/", public_id=elsewhere)
    ask("delete", "me/browsers/others/")
    ask("delete", "me/tokens/{public_id}/", public_id=made["id"])


def ask_about_teams(ask: Callable[..., Any]) -> None:
    ask("post", "teams/", {"name": "Physics", "slug": "physics", "colour": "teal"})
    assert ask("get", "teams/")["results"] == [ask("get", "teams/{slug}/", slug="physics")]
    assert ask("patch", "teams/{slug}/", {"name": "Fizik"}, slug="physics")["name"] == "Fizik"
    link = ask("post", "teams/{slug}/invitations/", {"role": "member", "uses": 40, "days": 7}, slug="physics")
    assert ask("get", "teams/{slug}/invitations/", slug="physics")["results"][0]["id"] == link["id"]
    ask("delete", "teams/{slug}/invitations/{public_id}/", slug="physics", public_id=link["id"])
    token = ask("post", "me/tokens/", {"name": "t", "scopes": ["read"], "team": "physics"})
    assert token["team"] == ask("get", "me/tokens/")["results"][0]["team"] == "physics"
    other = make.user()
    Team.objects.get().members.create(user=other)
    first, second = ask("get", "teams/{slug}/members/", slug="physics")["results"]
    ids = {"slug": "physics", "public_id": second["id"]}
    assert ask("patch", "teams/{slug}/members/{public_id}/", {"role": "owner"}, **ids)["role"] == "owner"
    ask("delete", "teams/{slug}/members/{public_id}/", slug="physics", public_id=first["id"])


def ask_about_spending(ask: Callable[..., Any], team: Team) -> None:
    path = "teams/{slug}/spending/"
    assert ask("get", path, slug=team.slug)["members"]
    assert ask("patch", path, {"month_budget": "5.00"}, slug=team.slug)["whole"]["budget"] == "5"


def ask_about_auto_mode(ask: Callable[..., Any], world: World) -> None:
    decision = world.decision.public_id
    body = {
        "prompt": "Hello",
        "context": {"workflow": "mail"},
        "dial": 0.2,
        "max_cost": "0.5",
        "models": ["ada", "bob"],
    }
    assert ask("post", "route/", body)["reason"]["code"] == "few_votes"
    assert ask("get", "route/decisions/", query="?target=model")["count"] == 2
    ask("post", "route/decisions/{public_id}/outcome/", {"better": "model"}, public_id=decision)
    assert ask("get", "route/decisions/{public_id}/", public_id=decision)["outcome"]["better"] == "model"
    RouterSnapshot.objects.create(slot="1", state="published", heads=[{"name": "labels", "passed": True}])
    ask("get", "route/snapshots/")
    chat = ask("post", "sessions/", {"prompt": "Hello", "mode": "auto", "dial": "cheap", "context": {"tools": True}})
    assert chat["battles"][0]["decision"]["target"] == "model"


@pytest.mark.slow
def test_empty_responses_match_schema(client: Client):
    make.model(slug="ada")
    contract = Contract()
    for route, query in [
        ("me/", ""), ("boards/", ""), ("leaderboard/", ""), ("leaderboard/matrix/", ""), ("leaderboard/snapshots/", ""),
        ("sessions/", ""), ("models/", ""), ("benchmarks/templates/", ""), ("benchmarks/runs/", ""), ("reviews/", ""),
        ("reports/", ""),
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
