"""Templates and runs of a team: absent for outsiders; for members the role decides."""

import json
import re
from dataclasses import dataclass
from urllib.parse import urlencode

import pytest
from django.db import transaction
from django.http import HttpResponse
from django.test import Client

from accounts.actor import Actor
from accounts.models import Role, Scope, Team, User
from accounts.teams import actions as team_actions
from accounts.teams.roles import RIGHTS, Right
from benchmarks import actions
from benchmarks.models import Template
from tests import make
from tests.arena_site.security import url_access
from tests.worlds.benchmarks import samples
from tests.worlds.benchmarks.samples import Sample

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
SENT = {"name": "New", "to": "5", "model": "ada", "kind": "pass", "value": 1, "readers": "numbers", "team": "physics"}
HIDDEN, NOT_ALLOWED, NO_SUCH_METHOD = 404, 403, 405
# Addresses that every member of a team reads; a change needs the right, which those who made the thing have with USE.
READ = {"GET", "HEAD"}
OWN, PUBLISHED = {
    "/benchmarks/t/{public_id}/edit/": READ, "/benchmarks/t/{public_id}/cases/": READ,
    "/benchmarks/t/{public_id}/cases/{case_id}/files/": READ, "/benchmarks/t/{public_id}/paste/": {"POST"},
    "/benchmarks/t/{public_id}/draft/": {"POST"}, "/benchmarks/r/{public_id}/budget/": {"POST"},
    "/benchmarks/r/{public_id}/do/{move}/": {"POST"},
    "/api/v1/benchmarks/templates/{public_id}/": {"PUT", "DELETE"},
    "/api/v1/benchmarks/templates/{public_id}/cases/": {"POST"},
    "/api/v1/benchmarks/templates/{public_id}/versions/": {"POST"},
    "/api/v1/benchmarks/templates/{public_id}/freeze/": {"POST"},
    "/api/v1/benchmarks/runs/{public_id}/": {"PATCH"},
    **{f"/api/v1/benchmarks/runs/{{public_id}}/{move}/": {"POST"}
       for move in ("start", "pause", "resume", "cancel", "retry", "leave-out", "rescore")},
}, ("/benchmarks/r/{public_id}/publish/", "/api/v1/benchmarks/runs/{public_id}/publish/")  # fmt: skip


@dataclass
class World:
    team: Team
    people: dict[Role, User]
    sample: Sample
    outsiders: dict[str, Client]

    def path(self, address: str, *, is_random: bool = False) -> str:
        item, version = self.sample.item, self.sample.run.version
        is_run = "/r/" in address or "/runs/" in address
        public_id = self.sample.run.public_id if is_run else self.sample.template.public_id
        if "/items/{public_id}" in address:
            public_id = f"{self.sample.run.public_id}-{item.pk}"
        if is_random:
            public_id = "x" * 22 + public_id[22:]
        case = (
            version.cases.earliest("pk") if is_run else self.sample.template.versions.get(state="draft").cases.first()
        )
        return address.format(
            public_id=public_id,
            item_id=item.pk,
            case_id=case.pk,
            file_id=self.sample.file_id,
            move="retry",
            test_id="none",
            judge_id="none",
            ending="csv",
        )


@pytest.fixture
def world(sample: Sample) -> World:
    people = {role: make.user() for role in Role}
    team = make.team(
        people[Role.OWNER], slug="physics", members={role: [people[role]] for role in Role if role != Role.OWNER}
    )
    models = [make.team_model(team, slug="own"), make.model(slug="site")]
    maker = people[Role.MANAGER]
    return World(team, people, samples.sample(maker, models, team), _outsiders(team, people[Role.OWNER], maker))


def _outsiders(team: Team, owner: User, maker: User) -> dict[str, Client]:
    other_owner, removed = make.user(), make.user()
    other = make.team(other_owner, slug="history")
    team_actions.add_member(by=owner, team=team, user=removed, role=Role.MEMBER)
    team_actions.remove_member(by=owner, member=team.members.get(user=removed))
    guest = make.user()
    team_actions.add_member(by=owner, team=team, user=guest, role=Role.GUEST)
    return {
        "owner of another team": make.browser(Actor(user=other_owner)),
        "removed member": make.browser(Actor(user=removed)),
        "guest": make.browser(Actor(user=guest)),
        "member of no team": make.browser(make.member()),
        "administrator": make.browser(make.member(is_staff=True, is_superuser=True)),
        "token of another team": _bearer(make.token(other_owner, team=other)),
        "personal token of the maker": _bearer(make.token(maker)),
    }


def _bearer(token: str) -> Client:
    return Client(headers={"Authorization": f"Bearer {token}"})


def ask(client: Client, method: str, path: str) -> HttpResponse:
    """Return the response to a request; roll its changes back."""
    is_json = path.startswith("/api/")
    data = json.dumps(SENT) if is_json else urlencode(SENT)
    with transaction.atomic():
        media_type = "application/json" if is_json else "application/x-www-form-urlencoded"
        response = client.generic(method, path, data, media_type)
        transaction.set_rollback(True)
    return response  # type: ignore[return-value]


def body(response: HttpResponse, path: str) -> str:
    if response.streaming:
        return "a stream"
    text = response.content.decode().replace(path, "PATH")
    return re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "TOKEN", text)


def addresses() -> list[str]:
    everything = [*url_access.BENCHMARKS, *url_access.BENCHMARKS_API]
    # Judges of teams are in tests/arena_site/security/test_outsiders_of_teams.py.
    return [
        address for address in everything if "{" in address and "/imports/" not in address and "judge" not in address
    ]


def test_outsiders_get_what_random_addresses_get(world: World):
    wrong = []
    for address in addresses():
        path, random = world.path(address), world.path(address, is_random=True)
        for who, client in world.outsiders.items():
            if "token" in who and not path.startswith("/api/"):
                continue  # pages know no tokens
            for method in METHODS:
                real, nothing = ask(client, method, path), ask(client, method, random)
                if (real.status_code, body(real, path)) != (nothing.status_code, body(nothing, random)):
                    wrong.append((who, method, path, real.status_code, nothing.status_code))
                if real.status_code not in (HIDDEN, NO_SUCH_METHOD):
                    wrong.append((who, method, path, real.status_code))
    assert wrong == []


@pytest.mark.parametrize("role", Role)
def test_role_decides_on_each_address(world: World, role: Role):
    client, wrong = make.browser(Actor(user=world.people[role])), []
    for address in addresses():
        for method in METHODS:
            status = ask(client, method, world.path(address)).status_code
            if status == NO_SUCH_METHOD:
                continue
            changes = method in OWN.get(address, ()) or (address in OWN and method not in READ)
            needed = Right.EDIT if changes or (address in PUBLISHED and method == "POST") else Right.SEE
            expects = status not in (HIDDEN, NOT_ALLOWED)
            if Right.SEE not in RIGHTS[role]:
                is_right = status == HIDDEN
            else:
                is_right = expects if needed in RIGHTS[role] else status == NOT_ALLOWED
            if not is_right or status >= 500:
                wrong.append((method, address, status))
    # There is no second run or version to compare with, and nothing to follow.
    absent = ("/stream/", "/compare/", "/changes/")
    assert [entry for entry in wrong if not entry[1].endswith(absent)] == []


def test_members_change_what_they_made(world: World):
    member, other = world.people[Role.MEMBER], make.user()
    team_actions.add_member(by=member, team=world.team, user=other, role=Role.MEMBER)
    made = samples.template(member, team=world.team, cases=False)
    draft = f"/benchmarks/t/{made.public_id}/edit/"

    statuses = {
        user: make.browser(Actor(user=user)).get(draft).status_code
        for user in (member, other, world.people[Role.MANAGER], world.people[Role.GUEST])
    }
    assert list(statuses.values()) == [200, NOT_ALLOWED, 200, HIDDEN]
    # The next click after a change of the role.
    team_actions.set_role(by=member, member=world.team.members.get(user=member), role=Role.GUEST)
    assert make.browser(Actor(user=member)).get(draft).status_code == HIDDEN


def test_all_members_grade_answers(world: World):
    address = f"/benchmarks/r/{world.sample.run.public_id}/items/{world.sample.item.pk}/grade/"
    for role, status in ((Role.MEMBER, 302), (Role.GUEST, 404)):
        client = make.browser(Actor(user=world.people[role]))
        assert client.post(address, {"verdict": "pass", "kind": "pass", "value": "1"}).status_code in (status, 422)


def test_lists_show_the_owner_to_members_only(world: World):
    page = make.browser(Actor(user=world.people[Role.MEMBER])).get("/benchmarks/?team=physics").content.decode()
    assert 'href="/teams/physics/"' in page
    assert "Capitals of the world" in page
    [run] = make.api(world.people[Role.MANAGER]).get("/api/v1/benchmarks/runs/").json()["results"] or [None]
    assert run is None  # a personal token
    token = make.token(world.people[Role.MEMBER], team=world.team, scopes=[Scope.READ])
    listed = _bearer(token).get("/api/v1/benchmarks/runs/").json()["results"]
    assert [(run["team"], run["mine"]) for run in listed] == [("physics", False)]
    overview = make.browser(Actor(user=world.people[Role.MEMBER])).get("/teams/physics/").content.decode()
    assert f"/benchmarks/r/{world.sample.run.public_id}/" in overview
    assert f"/benchmarks/t/{world.sample.template.public_id}/" in overview
    outsider = make.browser(make.member())
    assert outsider.get("/benchmarks/?team=physics").status_code == HIDDEN
    assert outsider.get("/api/v1/benchmarks/templates/?team=physics").status_code == HIDDEN
    assert "Capitals" not in outsider.get("/benchmarks/").content.decode()


def test_personal_bodies_gain_no_field(sample: Sample, member: Actor):
    client = make.browser(member)
    run = client.get(f"/api/v1/benchmarks/runs/{sample.run.public_id}/").json()
    template = client.get(f"/api/v1/benchmarks/templates/{sample.template.public_id}/").json()
    assert "team" not in run
    assert "team" not in template


def test_published_run_keeps_its_team_unnamed(world: World):
    maker = world.people[Role.MANAGER]
    run = samples.finished_run(maker, world.sample.run.version, [make.model(slug="public")])
    actions.publish_run(run)
    outsider = make.browser(make.member())

    page = outsider.get(f"/benchmarks/r/{run.public_id}/").content.decode()
    listed = outsider.get("/api/v1/benchmarks/runs/").json()["results"]

    assert "physics" not in page
    assert world.team.name not in page
    assert [(row["id"], "team" in row) for row in listed] == [(run.public_id, False)]
    assert outsider.get(f"/benchmarks/t/{world.sample.template.public_id}/").status_code == HIDDEN


def test_site_template_is_run_in_the_chosen_place(world: World, models: object, settings: pytest.FixtureRequest):
    settings.ARENA_RUNS = {"member": 10, "site": 20}  # type: ignore[attr-defined]
    template = samples.template(make.user(is_superuser=True, is_staff=True), "Of the site")
    Template.objects.filter(pk=template.pk).update(visibility="site")
    actions.freeze_version(template.versions.get())
    member = world.people[Role.MEMBER]
    token = make.token(member, team=world.team)

    def start(client: Client, **sent: object) -> tuple[int, str]:
        data = {"template": template.public_id, "models": ["ada"], **sent}
        response = client.post("/api/v1/benchmarks/runs/", data, content_type="application/json")
        return response.status_code, response.json().get("team", response.json().get("code", ""))

    assert start(make.api(member)) == (202, "")
    assert start(_bearer(token)) == (202, "physics")
    assert start(_bearer(token), models=["physics~own"]) == (202, "physics")
    assert start(make.api(member), team="physics")[0] == HIDDEN  # a personal token acts in no team
    assert start(make.browser(Actor(user=member)), team="physics", models=["own"]) == (202, "physics")
    assert start(make.browser(Actor(user=member)), models=["physics~own"]) == (422, "run_not_possible")
    assert start(make.browser(make.member()), models=["own"]) == (422, "run_not_possible")


def test_template_of_another_place_is_copied_first(world: World):
    member = world.people[Role.MEMBER]
    client = make.browser(Actor(user=member))
    own = samples.template(member, "My own")
    actions.freeze_version(own.versions.get())
    data = {"template": own.public_id, "models": ["own"], "team": "physics"}
    refused = client.post("/api/v1/benchmarks/runs/", data, content_type="application/json")
    assert (refused.status_code, refused.json()["code"]) == (422, "run_not_possible")

    address = f"/api/v1/benchmarks/templates/{own.public_id}/copy/"
    copied = client.post(address, {"team": "physics"}, content_type="application/json").json()
    copy = Template.objects.get(public_id=copied["id"])
    [file] = copy.versions.get().cases.get(key="france").files.all()
    assert (copied["team"], copy.team, file.upload.team) == ("physics", world.team, world.team)
    assert copy.versions.get().cases.count() == own.versions.get().cases.count()
    back = client.post(f"/benchmarks/t/{copy.public_id}/copy/", {"team": ""})
    again = Template.objects.get(public_id=back["Location"].split("/")[-2])
    [file] = again.versions.get().cases.get(key="france").files.all()
    assert (again.team, file.upload.team, file.upload.owner_user) == (None, None, member)
