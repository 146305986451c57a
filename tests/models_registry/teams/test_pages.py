"""Pages of a team's models: who may open them, and what managers do there."""

import re
from typing import Any

import pytest
from django.test import Client
from django.utils.html import escape

from accounts.actor import Actor
from accounts.models import AuditEntry, Role, Team, User
from accounts.teams.actions import remove_member, set_role
from models_registry.models import Catalogue, CatalogueChange, LanguageModel, Provider
from models_registry.profiles import profile_of
from tests import make
from tests.fake_provider import FakeProvider

pytestmark = pytest.mark.django_db
KEY = "sk-of-the-physicists-4711"
Status = LanguageModel.Status


@pytest.fixture
def manager() -> User:
    return make.user()


@pytest.fixture
def team(manager: User, fake_provider: FakeProvider) -> Team:
    team = make.team(slug="physics", members={Role.MANAGER: [manager]})
    make_hosts(team, "127.0.0.1")
    return team


@pytest.fixture
def client(client: Client, manager: User) -> Client:
    client.force_login(manager)
    return client


def make_hosts(team: Team, *hosts: str) -> None:
    team.private_hosts = list(hosts)
    team.save()


def add(client: Client, base_url: str, **fields: Any) -> Any:
    return client.post("/teams/physics/models/providers/new/", {"name": "Ours", "base_url": base_url, **fields})


def addresses(slug: str, provider: object, model: object) -> list[tuple[str, str]]:
    root = f"/teams/{slug}/models/"
    return [
        ("get", root), ("get", f"{root}choices/?picker=one"), ("post", f"{root}site/"),
        ("get", f"{root}providers/new/"), ("post", f"{root}providers/new/"), ("get", f"{root}providers/{provider}/"),
        ("post", f"{root}providers/{provider}/"), ("post", f"{root}providers/{provider}/list/"),
        ("post", f"{root}providers/{provider}/add/"), ("post", f"{root}providers/{provider}/remove/"),
        ("get", f"{root}{model}/"), ("post", f"{root}{model}/"), ("post", f"{root}{model}/status/"),
    ]  # fmt: skip


def body(response: Any, address: str) -> str:
    """Return the body without the address, which the form of the language has, and without secrets of forms."""
    return re.sub(r"[A-Za-z0-9]{64}", "", response.content.decode()).replace(escape(address), "ADDRESS")


def test_outsider_finds_nothing_of_a_team(team: Team):
    own = make.team_model(team)
    owner_of_other = make.user()
    make.team(owner_of_other)
    removed = make.user()
    remove_member(by=removed, member=team.members.create(user=removed, role=Role.MANAGER))
    for person in (make.member(), make.visitor(), Actor(user=owner_of_other), Actor(user=removed)):
        browser = make.browser(person)
        for (method, address), (_method, random) in zip(
            addresses("physics", own.provider_id, own.pk), addresses("random", 1, 1), strict=True
        ):
            found, missing = getattr(browser, method)(address), getattr(browser, method)(random)
            assert (found.status_code, body(found, address)) == (404, body(missing, random)), address


@pytest.mark.parametrize("role", [Role.MEMBER, Role.GUEST])
def test_others_of_the_team_change_nothing(team: Team, role: Role):
    own = make.team_model(team)
    person = make.user()
    team.members.create(user=person, role=role)
    browser = make.browser(Actor(user=person))
    answers = {
        address: getattr(browser, method)(address).status_code
        for method, address in addresses("physics", own.provider_id, own.pk)
    }
    readable = [address for address, status in answers.items() if status == 200]
    assert readable == (["/teams/physics/models/", "/teams/physics/models/choices/?picker=one"] * (role == Role.MEMBER))
    assert {status for address, status in answers.items() if address not in readable} == {403}


def test_model_of_another_team_is_not_found(client: Client, team: Team):
    foreign = make.team_model(make.team())
    for method, address in addresses("physics", foreign.provider_id, foreign.pk):
        if re.search(r"/\d+/", address):
            assert getattr(client, method)(address, {"status": "paused"}).status_code == 404, address


def test_manager_adds_provider_and_models_of_its_list(client: Client, team: Team, fake_provider: FakeProvider):
    added = add(client, fake_provider.base_url, key=KEY, api_key_env="DJANGO_SECRET_KEY")
    provider = Provider.of_every_owner.get()
    assert added.headers["Location"] == f"/teams/physics/models/providers/{provider.pk}/"
    assert (provider.team, provider.api_key_env, provider.needs_key) == (team, "", True)
    assert (provider.read_key(), provider.key_last_four) == (KEY, "4711")
    page = client.get(added.headers["Location"]).content.decode()
    assert KEY not in page
    assert "4711" in page

    fake_provider.serves = {"data": [{"id": "honest"}, {"id": "slow"}]}
    client.post(f"{added.headers['Location']}list/")
    assert fake_provider.list_requests[0].headers["Authorization"] == f"Bearer {KEY}"
    client.post(f"{added.headers['Location']}add/", {"names": ["honest"], "status": "active"})
    named = client.post(f"{added.headers['Location']}add/", {"upstream_name": "unlisted"})

    own = LanguageModel.of_every_owner.filter(team=team).order_by("pk")
    assert list(own.values_list("slug", "status")) == [("honest", "active"), ("unlisted", "draft")]
    assert named.headers["Location"] == f"/teams/physics/models/{own[1].pk}/"
    assert LanguageModel.objects.count() == Provider.objects.count() == 0
    entries = list(AuditEntry.objects.filter(action__in=["add provider", "add language model"]))
    assert len(entries) == 3
    assert not any(KEY in str(entry.details) for entry in entries)


def test_managers_decide_about_changes_of_their_providers_list(
    client: Client, team: Team, fake_provider: FakeProvider, admin_client: Client
):
    page = add(client, fake_provider.base_url, key=KEY).headers["Location"]
    fake_provider.serves = {"data": [{"id": "honest", "context_length": 4096}, {"id": "slow"}]}
    client.post(f"{page}list/")
    client.post(f"{page}add/", {"names": ["honest", "slow"], "status": "active"})
    fake_provider.serves = {"data": [{"id": "honest", "context_length": 8192}]}
    client.post(f"{page}list/")

    longer, gone = CatalogueChange.objects.order_by("model__slug")
    shown = client.get(page).content.decode()
    assert "4096 → 8192" in shown
    assert "no longer lists it" in shown
    listed = admin_client.get("/admin/models_registry/cataloguechange/").content.decode()
    assert "8192" not in listed
    client.post(f"{page}changes/{longer.pk}/", {"decision": "accept"})
    client.post(f"{page}changes/{gone.pk}/", {"decision": "dismiss"})
    client.post(f"{page}changes/{gone.pk}/", {"decision": "accept"})
    assert "Changes in its list" not in client.get(page).content.decode()
    own = LanguageModel.of_every_owner.filter(team=team).order_by("slug")
    assert list(own.values_list("context_length", "status")) == [(8192, "active"), (None, "active")]

    foreign = make.team_model(make.team())
    other = CatalogueChange.objects.create(model=foreign, kind="gone")
    client.post(f"{page}changes/{other.pk}/", {"decision": "accept"})
    other.refresh_from_db()
    assert other.state == "proposed"


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1:9/v1", "http://localhost/v1", "http://10.0.0.1/v1", "http://169.254.169.254/v1",
        "${ARENA_LOCAL_MODEL_URL}", "ftp://example.com", "http://[::1]/v1",
    ],
)  # fmt: skip
def test_address_that_is_not_public_is_refused(client: Client, team: Team, address: str, settings: Any):
    make_hosts(team)
    settings.ARENA_ALLOW_PRIVATE_PROVIDERS = True
    assert add(client, address, key=KEY).status_code == 422
    assert not Provider.of_every_owner.exists()


def test_connection_checks_the_address_again(client: Client, team: Team, fake_provider: FakeProvider):
    provider = make.provider(fake_provider.base_url, team=team)
    for hosts, requests in (([], 0), (["127.0.0.1"], 1)):
        make_hosts(team, *hosts)
        client.post(f"/teams/physics/models/providers/{provider.pk}/list/")
        assert len(fake_provider.list_requests) == requests
        assert bool(Catalogue.objects.get(provider=provider).failure) == (requests == 0)


def test_address_is_registered_once_and_keeps_its_key(client: Client, team: Team, fake_provider: FakeProvider):
    add(client, fake_provider.base_url, key=KEY)
    assert "already" in add(client, fake_provider.base_url, key=KEY).content.decode()
    provider = Provider.of_every_owner.get()
    address = f"/teams/physics/models/providers/{provider.pk}/"

    moved = client.post(address, {"name": "Ours", "base_url": "https://9.9.9.9/v1"})
    assert "enter the key again" in moved.content.decode()
    client.post(address, {"name": "Renamed", "base_url": fake_provider.base_url, "key": "sk-another-0815"})
    provider.refresh_from_db()
    assert (provider.name, provider.read_key()) == ("Renamed", "sk-another-0815")


def test_manager_prices_pauses_and_retires(client: Client, team: Team):
    model = make.team_model(team, slug="bert", name="Bert")
    address = f"/teams/physics/models/{model.pk}/"
    fields = {"name": "Bertha", "upstream_name": "honest", "weight": "1", "parameters": "{}"}

    assert client.post(address, {**fields, "price_input": "1"}).status_code == 422
    assert client.post(address, {**fields, "energy_name": "no-such-model"}).status_code == 422
    client.post(address, {**fields, "price_input": "1", "price_output": "2.5", "active_b": "8"})
    model = LanguageModel.of_every_owner.get()
    assert (model.name, str(model.price), profile_of(model.pk).active_b) == ("Bertha", "$1 in, $2.5 out", 8)
    for status in (Status.PAUSED, Status.ACTIVE, Status.RETIRED):
        client.post(f"{address}status/", {"status": status})
        assert LanguageModel.of_every_owner.get().status == status
    assert client.post(f"{address}status/", {"status": "draft"}).status_code == 404


def test_model_with_votes_becomes_a_new_version(client: Client, team: Team):
    model = make.team_model(team, slug="bert", has_votes=True)
    fields = {"name": "Bert", "upstream_name": "slow", "weight": "1", "parameters": "{}"}
    assert client.post(f"/teams/physics/models/{model.pk}/", fields).status_code == 422
    client.post(f"/teams/physics/models/{model.pk}/", {**fields, "make_version": "on"})
    assert list(LanguageModel.of_every_owner.order_by("pk").values_list("slug", "team", "status")) == [
        ("bert", team.pk, "retired"), ("bert-v2", team.pk, "active"),
    ]  # fmt: skip


def test_removed_provider_loses_its_key(client: Client, team: Team, fake_provider: FakeProvider):
    add(client, fake_provider.base_url, key=KEY)
    empty = Provider.of_every_owner.get()
    client.post(f"/teams/physics/models/providers/{empty.pk}/remove/")
    assert not Provider.of_every_owner.exists()

    model = make.team_model(team, at=fake_provider.base_url)
    model.provider.store_key(KEY)
    model.provider.save()
    client.post(f"/teams/physics/models/providers/{model.provider_id}/remove/")
    model = LanguageModel.of_every_owner.select_related("provider").get()
    assert (model.status, model.provider.key_encrypted, model.provider.key_last_four) == (Status.RETIRED, None, "")


def test_team_chooses_whether_it_uses_the_sites_models(client: Client, team: Team):
    make.model(name="Site model", slug="bert")
    make.team_model(team, name="Own model", slug="bert")
    page = client.get("/teams/physics/models/").content.decode()
    assert "Site model" in page
    assert "your own model of this name is used instead" in page

    client.post("/teams/physics/models/site/", {"use": "0"})
    page = client.get("/teams/physics/models/").content.decode()
    assert "Site model" not in page
    assert "physics~bert" in page


def test_demotion_takes_effect_at_the_next_click(client: Client, team: Team, manager: User):
    make.team_model(team, name="Own model")
    member = team.members.get(user=manager)
    set_role(by=manager, member=member, role=Role.MEMBER)
    assert "Add a provider" not in client.get("/teams/physics/models/").content.decode()
    assert add(client, "https://9.9.9.9/v1", key=KEY).status_code == 403
    remove_member(by=manager, member=team.members.get(user=manager))
    assert client.get("/teams/physics/models/").status_code == 404


def test_pages_have_the_teams_frame(client: Client, team: Team):
    own = make.team_model(team)
    root = "/teams/physics/models/"
    for address in (root, f"{root}providers/new/", f"{root}providers/{own.provider_id}/", f"{root}{own.pk}/"):
        text = re.sub(r"\s+", " ", client.get(address).text)
        assert re.findall(r"<h1>.*?<bdi>(.*?)</bdi>", text) == [team.name], address
        assert re.findall(r'<a href="(/teams/[^"]+)" aria-current="page">', text) == [root], address
        assert "Members" in text
