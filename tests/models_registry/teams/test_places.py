"""Models of a place: a team's own, the site's, and nothing of another team."""

import pytest
from django.conf import settings
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.actor import Actor
from accounts.models import Team
from battles.models import Battle, Session, Side
from models_registry import drawable_cache, versions
from models_registry.drawable_cache import Roster, roster_of
from models_registry.models import LanguageModel, Price, Provider
from models_registry.teams.actions import set_status, use_site_models
from routing.models import Rule
from tests import make

pytestmark = pytest.mark.django_db
ROOT = settings.BASE_DIR
APPS = [
    "accounts",
    "arena_site",
    "battles",
    "benchmarks",
    "gateway",
    "leaderboard",
    "models_registry",
    "reviews",
    "routing",
]
OF_EVERY_OWNER = {
    # Rows by an id that a row of the same place holds.
    "battles/actions/votes.py", "battles/calls/slots.py", "battles/own_votes.py", "reviews/answers.py",
    "reviews/exports.py", "reviews/queries.py", "leaderboard/boards/personal/own_board.py",
    "leaderboard/counting/tally_copies.py", "leaderboard/counting/vote_arrays.py",
    "models_registry/health/outcomes.py", "models_registry/versions.py",
    # The operator's: keys, probes, addresses of providers, medians by id, the log of calls.
    "battles/admin/interactions.py", "battles/interactions.py", "arena_site/backups/restoring.py",
    "arena_site/health.py", "arena_site/management/commands/encryption_keys.py",
    "models_registry/admin/health.py", "models_registry/admin/models.py", "models_registry/catalogue/discovery.py",
    "models_registry/energy/estimates.py", "models_registry/health/reachability.py", "routing/deciding/call_medians.py",
    # Rows of a named owner.
    "models_registry/drawable_cache.py", "models_registry/forms.py", "models_registry/picking.py",
    "models_registry/teams/forms.py", "models_registry/teams/listing.py",
    "models_registry/models/language_models.py", "models_registry/models/providers.py",
    # Categories, moderation rules and suggestions of a named team; models that its managers test.
    "arena_site/retention.py",
    "battles/editing/team_rows.py", "battles/views/team_model_tests.py", "battles/worker/model_tests.py",
    "battles/labels/categories.py", "battles/labels/custom_categories.py",
    "battles/models/categories.py", "battles/models/moderation.py", "battles/models/owners.py",
    "battles/models/suggestions.py", "battles/moderation/policy.py", "battles/suggestions.py",
    "leaderboard/boards/team_settings.py",
}  # fmt: skip


def slugs(roster: Roster) -> list[str]:
    return [model.full_slug for model in roster.choosable]


@pytest.fixture
def keeps_rosters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawable_cache.cached_roster, "ttl_s", 3600)
    monkeypatch.setattr(drawable_cache, "TTL_S", 3600)


def test_places_have_own_models_first_and_the_sites():
    make.model(slug="ada")
    make.model(slug="bert")
    team, other = make.team(slug="physics"), make.team(slug="chemistry")
    make.team_model(team, slug="bert")
    make.team_model(other, slug="bert")

    assert slugs(roster_of(team.pk)) == ["physics~bert", "ada"]
    assert slugs(roster_of(other.pk)) == ["chemistry~bert", "ada"]
    assert slugs(roster_of(None)) == ["ada", "bert"]
    assert {model.full_slug for model in LanguageModel.objects.in_place(team.pk)} == {"physics~bert", "ada"}
    assert {model.full_slug for model in LanguageModel.objects.all()} == {"ada", "bert"}
    assert [provider.team for provider in Provider.objects.all()] == [None]


def test_team_without_site_models_has_only_its_own():
    make.model(slug="ada")
    owner = make.user()
    team = make.team(owner, slug="physics")
    make.team_model(team, slug="bert")

    use_site_models(by=owner, team=team, uses=False)
    assert slugs(roster_of(team.pk)) == ["physics~bert"]
    assert [model.slug for model in LanguageModel.objects.in_place(team.pk).drawable()] == ["bert"]
    use_site_models(by=owner, team=team, uses=True)
    assert slugs(roster_of(team.pk)) == ["physics~bert", "ada"]


@pytest.mark.parametrize("status", ["paused", "retired", "draft"])
def test_only_a_retired_or_unused_name_gives_way_to_the_sites(status: str):
    make.model(slug="bert")
    owner = make.user()
    team = make.team(owner)
    make.team_model(team, slug="bert", status=status)

    assert slugs(roster_of(team.pk)) == ([] if status == "paused" else ["bert"])


def test_change_in_one_place_empties_no_other_roster(keeps_rosters: None):
    site_model = make.model(slug="ada")
    team, other = make.team(slug="physics"), make.team(slug="chemistry")
    own = make.team_model(team, slug="bert")
    before = {place: roster_of(place) for place in (None, team.pk, other.pk)}

    Price.objects.create(model=own, input_per_million=1, output_per_million=1)
    set_status(by=make.user(), model=own, status=LanguageModel.Status.PAUSED)
    assert slugs(roster_of(team.pk)) == ["ada"]
    with CaptureQueriesContext(connection) as queries:
        assert roster_of(None) is before[None]
        assert roster_of(other.pk) is before[other.pk]
    assert len(queries) == 0

    site_model.status = LanguageModel.Status.RETIRED
    site_model.save()
    assert [slugs(roster_of(place)) for place in (None, team.pk, other.pk)] == [[], [], []]


def test_versions_and_names_are_each_owners_own():
    site_model = make.model(slug="bert", has_votes=True)
    team = make.team()
    own = make.team_model(team, slug="bert", has_votes=True)
    successor = versions.revise(own.pk, {"system_prompt": "Be brief."})
    assert (successor.team, successor.slug, successor.version) == (team, "bert-v2", 2)
    assert versions.revise(site_model.pk, {"system_prompt": "Be brief."}).slug == "bert-v2"
    with pytest.raises(IntegrityError, match=r"an_owner_names_a_model_once|each_version_once"), transaction.atomic():
        make.team_model(team, slug="bert")


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("a_teams_provider_has_a_stored_key_only", {"base_url": "https://9.9.9.9/v1", "api_key_env": "OPENAI_API_KEY"}),
        ("a_teams_provider_has_a_stored_key_only", {"base_url": "${ARENA_LOCAL_MODEL_URL}"}),
    ],
)
def test_database_refuses_provider_with_secrets_of_the_machine(name: str, fields: dict[str, str]):
    with pytest.raises(IntegrityError, match=name), transaction.atomic():
        Provider.of_every_owner.create(name="P", team=make.team(), **fields)


def test_database_refuses_rows_that_mix_teams():
    owner = make.user()
    team, other = make.team(owner), make.team()
    of_team, of_other, of_site = make.team_model(team), make.team_model(other), make.model()

    def refused(sql: str, *values: object) -> str:
        with pytest.raises(DatabaseError) as error, transaction.atomic():
            connection.cursor().execute(sql, values)
        return str(error.value)

    moved = "UPDATE models_registry_languagemodel SET {} WHERE id = %s"
    assert "a_models_provider_is_its_owners" in refused(
        moved.format("provider_id = %s"), of_other.provider_id, of_team.pk
    )
    assert "a_models_provider_is_its_owners" in refused(
        moved.format("provider_id = %s"), of_site.provider_id, of_team.pk
    )
    assert "a_models_provider_is_its_owners" in refused(
        moved.format("provider_id = %s"), of_team.provider_id, of_site.pk
    )
    assert "Cannot update" in refused(moved.format("team_id = NULL"), of_team.pk)
    assert "Cannot update" in refused(
        "UPDATE models_registry_provider SET team_id = %s WHERE id = %s", other.pk, of_team.provider_id
    )

    for place, model in ((team, of_other), (None, of_team)):
        battle = Battle.objects.create(session=Session.objects.create(owner_user=owner, team=place), propensity=1)
        with pytest.raises(IntegrityError, match="a_sides_model_is_of_its_place"), transaction.atomic():
            Side.objects.create(battle=battle, position="left", model=model)
        side = Side.objects.create(battle=battle, position="left", model=of_site)
        with pytest.raises(IntegrityError, match="a_sides_model_is_of_its_place"), transaction.atomic():
            Side.objects.filter(pk=side.pk).update(model=model)
    for place, model in ((team, of_other), (None, of_team)):
        with pytest.raises(IntegrityError, match="a_rules_model_is_of_its_place"), transaction.atomic():
            Rule.objects.create(team=place, target="model", model=model)
    Rule.objects.create(team=team, target="model", model=of_team)


def test_lookups_of_every_owner_are_known():
    """A lookup outside of this list finds the site's rows only; add one that is safe."""
    found = {
        str(path.relative_to(ROOT))
        for app in APPS
        for path in (ROOT / app).rglob("*.py")
        if "of_every_owner" in path.read_text() and "migrations" not in path.parts
    }
    assert found == OF_EVERY_OWNER


def test_administration_names_teams_where_there_are_some(admin_client):  # type: ignore[no-untyped-def]
    address = "/admin/models_registry/languagemodel/"
    make.model()
    assert "column-team" not in admin_client.get(address).content.decode()
    make.team_model(make.team())
    Team.objects.get().save()
    assert "column-team" in admin_client.get(address).content.decode()


def test_api_lists_models_of_the_named_place():
    make.model(slug="bert", name="Bert")
    make.model(slug="carla", name="Carla")
    owner = make.user()
    team = make.team(owner, slug="physics")
    make.team_model(team, slug="bert", name="Our Bert")
    browser, outsider = make.browser(Actor(user=owner)), make.browser(make.member())
    program = Client(headers={"Authorization": f"Bearer {make.token(owner, team=team)}"})

    def ids(client: Client, query: str = "") -> list[str]:
        return [model["id"] for model in client.get(f"/api/v1/models/{query}").json()["results"]]

    assert ids(browser) == ids(outsider) == ["bert", "carla"]
    assert ids(browser, "?team=physics") == ids(program) == ["carla", "physics~bert"]
    assert ids(browser, "?team=physics&drawable=true") == ["carla", "physics~bert"]
    assert browser.get("/api/v1/models/physics~bert/?team=physics").json()["name"] == "Our Bert"
    for client, path in (
        (browser, "/api/v1/models/physics~bert/"),
        (outsider, "/api/v1/models/?team=physics"),
        (outsider, "/api/v1/models/physics~bert/?team=physics"),
        (program, "/api/v1/models/?team="),
    ):
        assert client.get(path).status_code == 404
