"""Outside of a team, what names something of it is answered as if that did not exist: status, headers and body."""

import json
import re
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from django.db import transaction
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from accounts.actor import Actor
from accounts.models import ApiToken, Role, Scope, Team, User
from accounts.teams import actions
from battles.models import Category
from common.ids import new_public_id
from leaderboard.models import AggregationRun
from models_registry.models import LanguageModel
from reviews.actions import create_review, open_review
from reviews.reports.actions import report_on_run
from routing.models import Rule
from tests import api_fixtures, make
from tests.arena_site.security import url_access
from tests.leaderboard.tally_checks import aggregate
from tests.leaderboard.teams.votes import cast_in
from tests.site_urls import addresses
from tests.worlds.benchmarks import judged_runs
from tests.worlds.benchmarks import samples as benchmark_samples

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
# Fields of every form: each view gets beyond its validation.
SENT = {
    "prompt": "Hello", "choice": "left", "stars": 3, "title": "T", "role": "member", "name": "New", "uses": 2,
    "slug": "new-address", "colour": "red", "days": 3, "reason": "rude", "scopes": ["read"], "status": "paused",
}  # fmt: skip
MESSAGES = [{"role": "user", "content": "Hello"}]
# Their parameters name nothing of a team: a release, the operator's pages, a sign-in, a signed token, a share.
OF_NO_TEAM = (
    "/accounts/", "/site/", "/api/v1/site/", "/models/icons/", "/api/v1/releases/", "/api/{rest}", "/v1/{rest}",
    "/stream/", "/benchmarks/stream/", "/b/", "/api/v1/shares/", "/api/v1/exports/", "/api/v1/me/browsers/",
    "/admin/",
)  # fmt: skip
# They read no name of a team in queries and forms; pages of accounts sign people out and in.
WITHOUT_QUERIES = (
    "/admin/", "/accounts/browsers/", "/accounts/l", "/accounts/sso/", "/accounts/2fa/", "/leaderboard/stream/",
    "/metrics", "/readyz", "/livez", "/api/v1/schema/",
)  # fmt: skip
# A name of the team, and one of the same length that nothing has.
NAMES = {"physics": "nothing", "quark": "gluon"}
Values = dict[str, str | int]
PAGE_READERS = ["owner of another team", "removed member", "visitor"]
PROGRAMS = ["token of another team", "token of the removed member", "personal token of the owner"]


@dataclass
class World:
    team: Team
    owned: api_fixtures.World
    outsiders: dict[str, Client]
    ids: dict[str, Values]

    def values(self, address: str) -> list[Values]:
        """Return ids of the team for the address's parameters. Raises KeyError for a new address."""
        if address in url_access.OWNED:
            return [{"public_id": url_access.OWNED[address][0](self.owned)}]
        if address in url_access.OWNED_PAGES:
            return [{"public_id": url_access.OWNED_PAGES[address](self.owned)}]
        beginning = max((known for known in self.ids if address.startswith(known)), key=len, default=None)
        if beginning is None:
            raise KeyError(f"tests/arena_site/security/test_outsiders_of_teams.py has no ids for {address}")
        values = self.ids[beginning]
        return [values, {**values, "slug": "physics~quark"}] if values.get("slug") == "quark" else [values]


@pytest.fixture
def world(settings: Any) -> World:
    settings.ARENA_LIMITS = dict.fromkeys(settings.ARENA_LIMITS, "off")
    person, owner = make.member(), make.user()
    assert person.user is not None
    team = make.team(owner, slug="physics", members={Role.MEMBER: [person.user]})
    owned = api_fixtures.create_world(person, place=team)
    model = make.team_model(team, slug="quark", name="Quark", has_votes=True)
    return World(team, owned, _outsiders(team, owner), _ids(team, owner, owned, model))


def _outsiders(team: Team, owner: User) -> dict[str, Client]:
    other, removed = make.user(), make.user()
    elsewhere = make.team(other, slug="history")
    actions.add_member(by=owner, team=team, user=removed, role=Role.MEMBER)
    token = make.token(removed, team=team)
    actions.remove_member(by=owner, member=team.members.get(user=removed))
    return {
        "owner of another team": make.browser(Actor(user=other)),
        "removed member": make.browser(Actor(user=removed)),
        "visitor": Client(),
        "token of another team": _bearer(make.token(other, team=elsewhere)),
        "token of the removed member": _bearer(token),
        "personal token of the owner": _bearer(make.token(owner)),
    }


def _bearer(token: str) -> Client:
    return Client(headers={"Authorization": f"Bearer {token}"})


def _ids(team: Team, owner: User, owned: api_fixtures.World, model: LanguageModel) -> dict[str, Values]:
    assert owned.actor.user is not None
    cast_in(team, [model, *api_fixtures.contestants()][:2], left=3, right=2)
    aggregate()
    snapshot = AggregationRun.objects.filter(team=team).latest("pk").public_id
    sample = benchmark_samples.sample(owned.actor.user, [model, *api_fixtures.contestants()][:2], team)
    judge = judged_runs.judge(model, owned.actor.user, team=team)
    review = open_review(create_review(owner=owned.actor.user, run=sample.run))
    category = Category.of_every_owner.create(team=team, slug="optics", name="Optics", phrases=["lens"])
    rule = Rule.objects.create(team=team, target="model", model=model)
    case = sample.template.versions.get(state="draft").cases.earliest("pk")
    token, _ = ApiToken.issue(user=owned.actor.user, name="t", scopes=[Scope.READ], team=team)
    soon = timezone.now() + timedelta(days=1)
    row, _ = actions.invite(by=owner, team=team, role=Role.MEMBER, uses=3, expires_at=soon)
    member = team.members.get(user=owned.actor.user).public_id or ""
    slug: Values = {"slug": "physics"}
    rows: Values = {"public_id": sample.run.public_id, "item_id": sample.item.pk, "case_id": sample.item.case_id}
    rows["judge_id"] = judge.public_id
    files: Values = {"file_id": sample.file_id, "move": "pause", "ending": "jsonl"}
    made = report_on_run(owner=owned.actor.user, run=sample.run, question="Which one?")
    report: Values = {"public_id": made.public_id, "ending": "json"}
    of_review: Values = {"public_id": review.public_id, "ending": "jsonl"}
    template: Values = {"public_id": sample.template.public_id, "case_id": case.pk}
    return {
        "/teams/{slug}/": slug,
        "/teams/{slug}/members/": {**slug, "public_id": member},
        "/teams/{slug}/invitations/": {**slug, "public_id": row.public_id or ""},
        "/teams/{slug}/models/": {
            **slug,
            "provider_id": model.provider_id,
            "model_id": model.pk,
            "test_id": new_public_id(),
            "change_id": 1,
        },
        "/teams/{slug}/questions/": {**slug, "kind": "categories", "row_id": category.pk},
        "/teams/{slug}/rules/": {**slug, "rule_id": rule.pk},
        "/teams/{slug}/sessions/": {**slug, "public_id": owned.waiting.session.public_id},
        "/api/v1/teams/{slug}/": slug,
        "/api/v1/teams/{slug}/members/": {**slug, "public_id": member},
        "/api/v1/teams/{slug}/invitations/": {**slug, "public_id": row.public_id or ""},
        "/leaderboard/models/": {"slug": "quark"},
        "/leaderboard/compare/": {"a": "physics~quark", "b": "ada"},
        "/leaderboard/snapshots/": {"public_id": snapshot},
        "/api/v1/leaderboard/snapshots/": {"public_id": snapshot},
        "/api/v1/leaderboard/models/": {"slug": "quark"},
        "/api/v1/models/": {"slug": "quark"},
        "/v1/models/": {"name": "physics~quark"},
        "/api/v1/me/tokens/": {"public_id": token.public_id},
        "/benchmarks/t/": {**template, **files},
        "/benchmarks/r/": {**rows, **files},
        "/benchmarks/judges/": {"public_id": judge.public_id, "test_id": "none"},
        "/api/v1/benchmarks/templates/": template,
        "/api/v1/benchmarks/runs/": {**rows, **files},
        "/api/v1/benchmarks/items/": {"public_id": f"{sample.run.public_id}-{sample.item.pk}"},
        "/api/v1/judges/": {"public_id": judge.public_id},
        "/api/v1/benchmarks/imports/": {"public_id": new_public_id()},
        "/review/": {**of_review, "move": "close", "number": 1, "judge_id": judge.public_id},
        "/api/v1/reviews/": {**of_review, "number": 1},
        "/reports/": report,
        "/api/v1/reports/": report,
    }


def unknown(value: str | int) -> str | int:
    """Return a value of the same length that no row has."""
    if isinstance(value, int):
        return value + 10**9
    return renamed(value) if value == "ada" or renamed(value) != value else new_public_id()[: len(value)]


def renamed(value: str) -> str:
    for name, nothing in NAMES.items():
        value = value.replace(name, nothing)
    return value


def requests(world: World, queries: int = 1) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield paths of the team's rows and of none, and what differs between them. queries: how many of QUERIES."""
    back = {nothing: name for name, nothing in NAMES.items()}
    for address in addresses():
        if "{" in address and not address.startswith(OF_NO_TEAM):
            for values in world.values(address):
                nothing = {name: value if name == "kind" else unknown(value) for name, value in values.items()}
                words = {str(nothing[name]): str(value) for name, value in values.items() if nothing[name] != value}
                yield address.format(**values), address.format(**nothing), words
        elif "{" not in address and not address.startswith(WITHOUT_QUERIES):
            for query in QUERIES[: queries if address.startswith(OF_MODELS) else 1]:
                board = f"team:{world.team.pk}/"
                there, nowhere = query.replace("team:1/", board), renamed(query).replace("team:1/", "team:0/")
                yield f"{address}?{there}", f"{address}?{nowhere}", {**back, "team:0/": board}


# Where models and boards are named.
OF_MODELS = (
    "/leaderboard/", "/api/v1/leaderboard/", "/api/v1/boards/", "/models/", "/api/v1/models/", "/data/",
    "/api/v1/exports/",
)  # fmt: skip
QUERIES = [
    "team=physics", "board=team:1/overall", "models=physics~quark", "models=quark,ada", "search=quark",
    "a=physics~quark&b=ada", "find=quark&picker=one",
]  # fmt: skip


def ask(client: Client, method: str, path: str, sent: dict[str, Any]) -> HttpResponse:
    """Send the fields; roll the changes back, and those of cookies."""
    cookies = copy(client.cookies)
    is_json = path.startswith(("/api/", "/v1/"))
    data = json.dumps(sent) if is_json else urlencode(sent, doseq=True)
    media_type = "application/json" if is_json else "application/x-www-form-urlencoded"
    with transaction.atomic():
        response = client.generic(method, path, data, media_type)
        transaction.set_rollback(True)
    client.cookies = cookies
    return response  # type: ignore[return-value]


def seen(response: HttpResponse, words: dict[str, str]) -> tuple[int, str, str]:
    """Return what a client sees, without what is new in each response, and with one name for what was asked for."""
    content = b"".join(response) if response.streaming else response.content  # type: ignore[arg-type]
    headers = {name: value for name, value in response.headers.items() if name not in ("Content-Length", "Expires")}
    cookies = sorted(response.cookies)
    texts = []
    for text in (content.decode(errors="replace"), f"{headers} {cookies}"):
        text = re.sub(r"nonce-[\w-]+|nonce=\"[^\"]+\"|value=\"\w{64}\"|\b[0-9a-f]{24}\b|[A-Za-z0-9]{64}", "NEW", text)
        for nothing, name in words.items():
            text = text.replace(quote(nothing), name).replace(nothing, name).replace(quote(name), name)
        texts.append(text)
    if response.status_code < 400:
        is_new = r"[\w-]{22}|" if response.wsgi_request.method == "POST" else ""  # type: ignore[attr-defined]
        texts = [re.sub(is_new + r"\d{4}-\d\d-\d\dT[\d:.]+Z|Computed .* ago", "NEW", text) for text in texts]
    return response.status_code, texts[0], texts[1]


def differences(world: World, who: str, there: str, nowhere: str, words: dict[str, str]) -> list[tuple[object, ...]]:
    """Return the methods by which the person learns that the team's address is another than that of nothing."""
    wrong: list[tuple[object, ...]] = []
    named = {"team": "physics", "models": ["physics~quark"], "model": "physics~quark", "messages": MESSAGES}
    sent = {**SENT, **named} if "?" in there else SENT
    nothing_sent = json.loads(renamed(json.dumps(sent)))
    for method in ("GET", "POST") if "?" in there else METHODS:
        of_team = seen(ask(world.outsiders[who], method, there, sent), words)
        of_none = seen(ask(world.outsiders[who], method, nowhere, nothing_sent), words)
        if of_team != of_none:
            wrong.append(
                (who, method, there, *(pair for pair in zip(of_team, of_none, strict=True) if len(set(pair)) > 1))
            )
    return wrong


@pytest.mark.parametrize("who", PAGE_READERS + PROGRAMS)
def test_names_of_a_team_are_as_unknown_as_any(world: World, who: str):
    asked = requests(world, queries=len(QUERIES) if who == PAGE_READERS[0] else 1)
    read = [paths for paths in asked if who in PAGE_READERS or paths[0].startswith(("/api/", "/v1/"))]

    assert [wrong for paths in read for wrong in differences(world, who, *paths)] == []
    assert len(read) > 80


@pytest.mark.parametrize("role", [Role.OWNER, Role.MANAGER, Role.GUEST])
def test_others_of_the_team_find_no_session_that_is_not_shared(world: World, role: Role):
    person = make.user()
    actions.add_member(by=person, team=world.team, user=person, role=role)
    world.outsiders = {
        "member": make.browser(Actor(user=person)),
        "token of the team": _bearer(make.token(person, team=world.team)),
    }
    owned = url_access.OWNED | url_access.OWNED_PAGES
    found = {value for address in owned for values in world.values(address) for value in values.values()}
    read = [paths for paths in requests(world) if found & {*paths[2].values()} and "/teams/" not in paths[0]]
    programs = [paths for paths in read if paths[0].startswith("/api/")]

    assert [wrong for paths in read for wrong in differences(world, "member", *paths)] == []
    assert [wrong for paths in programs for wrong in differences(world, "token of the team", *paths)] == []
    assert len(read) > 40 > len(programs) > 15
