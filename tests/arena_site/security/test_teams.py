"""Access to teams: for outsiders a team is as absent as a random address; for members the role decides."""

import json
import re
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import urlencode

import pytest
from django.db import transaction
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from accounts.actor import Actor
from accounts.models import Role, Team, User
from accounts.teams import actions
from accounts.teams.roles import RIGHTS
from battles.models import Battle, Category, Session
from models_registry.models import LanguageModel
from routing.models import Rule
from tests import make
from tests.arena_site.security.url_access import TEAMS

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
SENT = {"role": "member", "uses": 2, "days": 3, "name": "New", "slug": "new-address", "colour": "red"}
SENT["status"] = "paused"
NO_SUCH_METHOD, NOT_ALLOWED, HIDDEN = 405, 403, 404


@dataclass
class World:
    team: Team
    people: dict[Role, User]
    outsiders: dict[str, Client]
    session: Session
    invitation: str
    member: str  # id of the member
    model: LanguageModel

    def path(self, address: str, *, slug: str = "") -> str:
        if "/invitations/" in address:
            public_id = self.invitation
        else:
            public_id = self.session.public_id if "/sessions/" in address else self.member
        ids = {
            "provider_id": self.model.provider_id, "model_id": self.model.pk, "kind": "categories",
            "row_id": Category.of_every_owner.get().pk, "rule_id": Rule.objects.get(team=self.team).pk,
            "test_id": "none", "change_id": 1,
        }  # fmt: skip
        query = "?picker=one" if address.endswith("/choices/") else ""
        return address.format(slug=slug or self.team.slug, public_id="nothing" if slug else public_id, **ids) + query


@pytest.fixture
def world() -> World:
    people = {role: make.user() for role in Role}
    others = {role: [people[role]] for role in Role if role != Role.OWNER}
    team = make.team(people[Role.OWNER], slug="physics", members=others)
    soon = timezone.now() + timedelta(days=1)
    row, _token = actions.invite(by=people[Role.OWNER], team=team, role=Role.MEMBER, uses=3, expires_at=soon)
    session = Session.objects.create(owner_user=people[Role.MANAGER], team=team, title="canary", is_shared=True)
    battle = Battle.objects.create(session=session, mode=Battle.Mode.DIRECT, propensity=1.0)
    battle.sides.create(position="left", model=make.model())
    make.turn(battle)
    make.complete_answers(battle)
    public_id = team.members.get(user=people[Role.MEMBER]).public_id or ""
    Category.of_every_owner.create(team=team, slug="canary", name="Canary", phrases=["canary"])
    Rule.objects.create(team=team, target="arena", note="canary")
    outsiders, model = _outsiders(team, people[Role.OWNER]), make.team_model(team)
    return World(team, people, outsiders, session, row.public_id or "", public_id, model)


def _outsiders(team: Team, owner: User) -> dict[str, Client]:
    users = {role: make.user() for role in Role}
    other = make.team(users[Role.OWNER], slug="history", members={
        role: [user] for role, user in users.items() if role != Role.OWNER
    })  # fmt: skip
    removed = make.user()
    actions.add_member(by=owner, team=team, user=removed, role=Role.MEMBER)
    actions.remove_member(by=owner, member=team.members.get(user=removed))
    return {
        **{f"{role} of another team": make.browser(Actor(user=user)) for role, user in users.items()},
        "removed member": make.browser(Actor(user=removed)),
        "member of no team": make.browser(make.member()),
        "moderator": make.browser(make.member(is_staff=True)),
        "administrator": make.browser(make.member(is_staff=True, is_superuser=True)),
    } | {
        "token of another team": bearer(make.token(users[Role.OWNER], team=other)),
        "personal token of the owner": bearer(make.token(owner)),
    }


def bearer(token: str) -> Client:
    return Client(headers={"Authorization": f"Bearer {token}"})


def ask(client: Client, method: str, path: str) -> HttpResponse:
    """Return the response to a request with the fields of all forms; roll its changes back."""
    is_json = path.startswith("/api/")
    data = json.dumps(SENT) if is_json else urlencode(SENT)
    media_type = "application/json" if is_json else "application/x-www-form-urlencoded"
    with transaction.atomic():
        response = client.generic(method, path, data, media_type)
        transaction.set_rollback(True)
    return response  # type: ignore[return-value]


def body(response: HttpResponse, path: str) -> str:
    """Return the body without what differs in each response: the path that was asked for, and tokens."""
    text = response.content.decode().replace(path, "PATH")
    return re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "TOKEN", text)


def test_outsiders_get_what_random_addresses_get(world: World):
    wrong = []
    for address in TEAMS:
        path, random = world.path(address), world.path(address, slug="nothing")
        for who, client in world.outsiders.items():
            if "token" in who and not path.startswith("/api/"):
                continue  # pages know no tokens
            for method in METHODS:
                team, nothing = ask(client, method, path), ask(client, method, random)
                if (team.status_code, body(team, path)) != (nothing.status_code, body(nothing, random)):
                    wrong.append((who, method, path, team.status_code, nothing.status_code))
                if team.status_code not in (HIDDEN, NO_SUCH_METHOD, NOT_ALLOWED if "token" in who else HIDDEN):
                    wrong.append((who, method, path, team.status_code))
    assert wrong == []


def test_visitors_sign_in_first(world: World):
    for address in TEAMS:
        path, random = world.path(address), world.path(address, slug="nothing")
        for method in METHODS:
            team, nothing = ask(Client(), method, path), ask(Client(), method, random)
            assert team.status_code == nothing.status_code, (method, path)
            assert team.status_code in (302, 401, NO_SUCH_METHOD, HIDDEN), (method, path)


@pytest.mark.parametrize("role", Role)
def test_role_decides_on_each_address(world: World, role: Role):
    client, wrong = make.browser(Actor(user=world.people[role])), []
    for address, needed in TEAMS.items():
        for method, right in needed.items():
            status = ask(client, method, world.path(address)).status_code
            is_allowed = right is None or right in RIGHTS[role]
            is_self = role == Role.MEMBER and method == "DELETE" and "/members/" in address  # who may leave
            if (status == NOT_ALLOWED) == (is_allowed or is_self) or status in (HIDDEN, NO_SUCH_METHOD, 500):
                wrong.append((method, address, status))
    assert wrong == []


@pytest.mark.parametrize("role", Role)
def test_tokens_of_the_team_only_read(world: World, role: Role):
    client = bearer(make.token(world.people[role], team=world.team))
    for address, needed in TEAMS.items():
        if not address.startswith("/api/"):
            continue
        for method, right in needed.items():
            status = ask(client, method, world.path(address)).status_code
            reads = method in ("GET", "HEAD") and right in RIGHTS[role]
            assert (status == 200) if reads else (status == NOT_ALLOWED), (method, address, status)


def test_changes_need_csrf_token(world: World):
    strict = make.browser(Actor(user=world.people[Role.OWNER]), enforce_csrf_checks=True)
    for address, needed in TEAMS.items():
        for method in needed.keys() - {"GET", "HEAD"}:
            assert ask(strict, method, world.path(address)).status_code == NOT_ALLOWED, (method, address)
