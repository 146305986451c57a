"""Forms of benchmarks act in the place that they name."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from accounts.actor import Actor
from accounts.models import Role, Team, User
from benchmarks import actions
from benchmarks.models import ImportLook, Run, Template
from models_registry.models import LanguageModel
from tests import make
from tests.worlds.benchmarks import samples

pytestmark = [pytest.mark.django_db, pytest.mark.processes]
TABLE = "question\tanswer\nCapital of France?\tParis\n"


@pytest.fixture
def person() -> User:
    return make.user()


@pytest.fixture
def team(person: User) -> Team:
    return make.team(slug="physics", name="Physics", members={Role.MEMBER: [person]})


@pytest.fixture
def client(person: User, team: Team) -> Client:
    return make.browser(Actor(user=person))


def places() -> list[str]:
    return [template.team.slug if template.team else "" for template in Template.objects.order_by("pk")]


def test_new_template_is_of_the_forms_place(client: Client):
    assert 'name="team" value="physics"' in client.get("/benchmarks/new/?team=physics").content.decode()
    for place in ("physics", ""):
        client.post("/benchmarks/new/", {"name": "Facts", "team": place})
    client.post("/teams/place/", {"team": "physics"})
    client.post("/benchmarks/new/", {"name": "Of the browser's choice"})
    assert places() == ["physics", "", "physics"]
    assert client.post("/benchmarks/new/", {"name": "No", "team": "history"}).status_code == 404


def test_table_becomes_a_template_of_the_team(client: Client):
    page = client.post("/benchmarks/new/", {"table": TABLE, "team": "physics"}).content.decode()
    source = page.split('name="source" value="')[1].split('"')[0]
    assert 'name="team" value="physics"' in page
    sent = {"source": source, "name": "Facts", "question": "question", "answer": "answer", "rule": "equals"}
    client.post("/benchmarks/new/", {**sent, "team": "physics"})
    assert places() == ["physics"]


def test_imported_answers_become_a_run_of_the_team(client: Client, team: Team):
    file = SimpleUploadedFile("facts.csv", b"question,answer,said\nCapital of France?,Paris,It is Paris.\n")
    client.post("/benchmarks/import/", {"file": file, "format": "table", "team": "physics"})
    roles = {"role-0": "prompt", "role-1": "expected", "role-2": "reply", "name-0": "", "name-1": "", "name-2": "ada"}
    source = ImportLook.objects.get().public_id
    shown = client.post("/benchmarks/import/columns/", {**roles, "source": source, "team": "physics"})
    assert 'name="team" value="physics"' in shown.content.decode()
    preview = {"preview": shown.context["preview"].id, "with_answers": "on"}
    client.post("/benchmarks/import/apply/", {**preview, "team": "physics"})
    assert places() == ["physics"]
    assert list(Run.objects.values_list("team", flat=True)) == [team.pk]


def test_run_starts_with_the_models_of_its_place(client: Client, person: User, team: Team):
    make.model(slug="ada", name="Ada")
    make.team_model(team, slug="bert", name="Bert of Physics")
    make.team_model(make.team(), slug="foreign", name="Foreign model")
    template = samples.template(person, "Of the site")
    Template.objects.filter(pk=template.pk).update(visibility="site")
    actions.freeze_version(template.versions.get())
    address = f"/benchmarks/t/{template.public_id}/start/"

    in_team = client.get(f"{address}?team=physics").content.decode()
    personal = client.get(f"{address}?team=").content.decode()

    assert [("Bert of Physics" in page, "Ada" in page) for page in (in_team, personal)] == [(True, True), (False, True)]
    assert "Only of the team’s runs" in in_team
    assert "Foreign model" not in in_team
    data = {"repeats": "1", "concurrency": "1", "parameters": "{}", "models": "bert"}
    assert client.post(address, {**data, "team": ""}).status_code == 422
    assert client.post(address, {**data, "team": "physics"}).status_code == 302
    [run] = Run.objects.all()
    assert (run.team, run.owner, run.entrants.get().model) == (
        team, person, LanguageModel.of_every_owner.get(slug="bert")
    )  # fmt: skip


def test_heat_map_is_of_one_place(client: Client, person: User, team: Team):
    samples.sample(person, [make.team_model(team, slug="bert", name="Bert")], team)
    samples.sample(person, [make.model(name="Bert")])
    in_team = client.get("/benchmarks/heatmap/?team=physics").content.decode()
    personal = client.get("/benchmarks/heatmap/?team=").content.decode()
    assert "Bert (physics~bert)" in in_team
    assert "physics~bert" not in personal
    assert ">Bert<" in personal
    api = make.api(person).get("/api/v1/benchmarks/heatmap/").json()
    assert {cell["model"] for cell in api["cells"]} == {"Bert"}


def test_person_without_a_team_sees_nothing_of_teams():
    member = make.member()
    assert member.user is not None
    sample = samples.sample(member.user, [make.model()])
    make.team()
    browser = make.browser(member)
    for path in (
        "/benchmarks/", "/benchmarks/?show=runs", "/benchmarks/new/", "/benchmarks/import/", "/benchmarks/heatmap/",
        f"/benchmarks/t/{sample.template.public_id}/?version=1", f"/benchmarks/t/{sample.template.public_id}/start/",
        f"/benchmarks/r/{sample.run.public_id}/", f"/benchmarks/r/{sample.run.public_id}/report/",
    ):  # fmt: skip
        page = browser.get(path).content.decode()
        assert "team" not in page.lower().replace("steam", ""), path
