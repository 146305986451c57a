"""Categories, moderation rules and suggestions of a team hold in its place only."""

import json

import pytest
from django.db import IntegrityError, ProgrammingError, transaction
from django.test import Client

from accounts.actor import Actor
from accounts.models import AuditEntry, Role, Team, User
from battles.actions import cast_vote, follow_up, start_session
from battles.auto.port import RoutingRequest, route
from battles.editing import team_rows
from battles.errors import PromptRefused
from battles.models import Category, ModerationCase, ModerationRule, PromptSuggestion, Vote
from battles.moderation.examination import open_case
from battles.suggestions import suggestions
from leaderboard.aggregation import team_boards
from leaderboard.exports.votes import batches, snapshot_range
from leaderboard.models import AggregationRun, TeamBoard
from routing.models import Rule
from tests import make
from tests.leaderboard.tally_checks import aggregate

pytestmark = pytest.mark.django_db
QUESTIONS = "/teams/physics/questions/"
CATEGORY = {"name": "Optics", "slug": "optics", "is_active": "on", "phrases": "lens*\nprism", "languages": "",
            "fewest_characters": "0", "fewest_turns": "1"}  # fmt: skip
RULE = {"category": "Homework", "kind": "phrases", "patterns": "exercise sheet", "action": "block", "note": ""}
SUGGESTION = {"texts_en": "Explain a prism.", "texts_fr": "Expliquez un prisme.", "position": "0", "is_shown": "on"}


@pytest.fixture
def owner() -> User:
    return make.user()


@pytest.fixture
def team(owner: User) -> Team:
    return make.team(owner, slug="physics", members={Role.MANAGER: [make.user("manager@example.org")]})


@pytest.fixture
def manager(team: Team) -> Client:
    return make.browser(Actor(user=User.objects.get(email="manager@example.org")))


def category(team: Team | None, **fields: object) -> Category:
    fields = {"slug": "optics", "name": "Optics", "phrases": ["lens*", "prism"], **fields}
    return Category.of_every_owner.create(team=team, **fields)


def rule(team: Team | None, action: str, **fields: object) -> ModerationRule:
    fields = {"category": "Homework", "patterns": ["exercise sheet"], **fields}
    return ModerationRule.of_every_owner.create(team=team, action=action, **fields)


def suggestion(team: Team | None, text: str) -> PromptSuggestion:
    return PromptSuggestion.of_every_owner.create(team=team, texts={"en": text})


def vote_in(team: Team | None, owner: User, prompt: str) -> Vote:
    battle = start_session(actor=Actor(user=owner), prompt=prompt, place=team)
    make.complete_answers(battle)
    return cast_vote(actor=Actor(user=owner), battle=battle, choice=Vote.Choice.LEFT)


@pytest.mark.parametrize(
    ("kind", "sent", "name", "changed"),
    [
        ("categories", CATEGORY, "Optics", {"name": "Light"}),
        ("rules", RULE, "Homework", {"category": "Light"}),
        ("suggestions", SUGGESTION, "Explain a prism.", {"texts_en": "Light"}),
    ],
)
def test_managers_add_change_and_remove(team, manager, kind, sent, name, changed):
    assert manager.get(f"{QUESTIONS}{kind}/new/").status_code == 200
    assert manager.post(f"{QUESTIONS}{kind}/new/").status_code == 422
    assert manager.post(f"{QUESTIONS}{kind}/new/", sent).status_code == 302
    assert name in manager.get(QUESTIONS).content.decode()

    model = {"categories": Category, "rules": ModerationRule, "suggestions": PromptSuggestion}[kind]
    row = model.of_every_owner.get(team=team)
    assert not model.objects.filter(pk=row.pk).exists()
    address = f"{QUESTIONS}{kind}/{row.pk}/"
    assert manager.post(address, {**sent, **changed}).status_code == 302
    assert "Light" in manager.get(QUESTIONS).content.decode()
    assert manager.post(f"{address}remove/").status_code == 302
    assert not model.of_every_owner.filter(team=team).exists()
    subject = AuditEntry.objects.filter(subject__startswith="team physics: ").order_by("pk")
    assert [action.split()[0] for action in subject.values_list("action", flat=True)] == ["add", "change", "remove"]
    assert manager.get(address).status_code == manager.get(f"{QUESTIONS}nothing/new/").status_code == 404


def test_rows_of_another_team_are_not_found(team, manager):
    foreign = category(make.team())
    assert manager.get(f"{QUESTIONS}categories/{foreign.pk}/").status_code == 404
    assert manager.post(f"{QUESTIONS}categories/{foreign.pk}/remove/").status_code == 404
    assert manager.get(f"{QUESTIONS}categories/{category(None).pk}/").status_code == 404


def test_address_is_taken_by_its_owner_only(team, manager):
    category(None)
    category(make.team())
    assert manager.post(f"{QUESTIONS}categories/new/", CATEGORY).status_code == 302
    again = manager.post(f"{QUESTIONS}categories/new/", CATEGORY)
    assert again.status_code == 422
    assert "There is a category with this address already." in again.content.decode()
    too_long = manager.post(f"{QUESTIONS}categories/new/", {**CATEGORY, "slug": "x" * 40})
    assert too_long.status_code == 422


def test_number_of_rows_is_limited(team, manager, monkeypatch):
    monkeypatch.setattr(team_rows, "MAX_ROWS", 1)
    suggestion(team, "first")
    response = manager.post(f"{QUESTIONS}suggestions/new/", {"texts_en": "second", "position": "0"})
    assert response.status_code == 409
    assert "maximum number" in response.content.decode()


def test_votes_are_filed_under_the_teams_categories(team, owner, client):
    for _ in range(2):
        make.model()
    category(team)
    category(None, name="Of the site", phrases=["telescope"])
    filed = vote_in(team, owner, "What does a lens do?")
    other = vote_in(team, owner, "What does a telescope do?")
    personal = vote_in(None, owner, "What does a lens do?")
    assert (filed.team_categories, filed.categories) == (["optics"], [])
    assert (other.team_categories, other.categories) == ([], ["optics"])
    assert (personal.team_categories, personal.categories) == (None, [])

    page = make.browser(Actor(user=owner)).get("/teams/physics/boards/").content.decode()
    assert "category:~optics" in page
    TeamBoard.objects.create(team=team, name="category:~optics")
    aggregate()
    team_boards.publish([team.pk])
    run = AggregationRun.objects.snapshots(f"team:{team.pk}/category:~optics", team.pk)[0]
    assert run.votes_counted == 1
    assert [row.categories for rows in batches(snapshot_range(run)) for row in rows] == [["~optics"]]
    board = make.browser(Actor(user=owner)).get("/api/v1/leaderboard/?team=physics&board=category:~optics").json()
    assert (board["title"], board["votes_counted"]) == ("Optics", 1)


def test_site_knows_no_category_of_a_team(team, owner, client):
    Team.objects.filter(pk=team.pk).update(counts_on_site_boards=True)
    for _ in range(2):
        make.model()
    category(team)
    vote = vote_in(team, owner, "What does a lens do?")
    assert vote.on_site_boards
    assert vote.team_categories == ["optics"]
    aggregate()
    scopes = set(AggregationRun.objects.newest_of_each_board().values_list("scope", flat=True))
    assert not [scope for scope in scopes if "optics" in scope]
    run = AggregationRun.objects.snapshots("overall")[0]
    assert [row.categories for rows in batches(snapshot_range(run)) for row in rows] == [[]]
    for address in ("/api/v1/leaderboard/?board=category:~optics", "/leaderboard/?board=category:~optics"):
        assert client.get(address).status_code == 404
    assert "optics" not in json.dumps(client.get("/api/v1/leaderboard/boards/").json())


def test_category_with_votes_stays(team, owner, manager):
    for _ in range(2):
        make.model()
    row = category(team)
    vote_in(team, owner, "What does a lens do?")
    response = manager.post(f"{QUESTIONS}categories/{row.pk}/remove/")
    assert response.status_code == 409
    assert "Switch it off" in response.content.decode()
    assert Category.of_every_owner.filter(pk=row.pk).exists()


def test_rules_refuse_in_their_team_only(team, owner):
    for _ in range(2):
        make.model()
    rule(team, "block")
    with pytest.raises(PromptRefused, match="Homework"):
        start_session(actor=Actor(user=owner), prompt="Solve my exercise sheet", place=team)
    assert not ModerationCase.objects.exists()
    start_session(actor=Actor(user=owner), prompt="Solve my exercise sheet")
    start_session(actor=Actor(user=owner), prompt="Solve my exercise sheet", place=make.team(owner))


def test_rules_of_the_site_hold_in_teams(team, owner):
    for _ in range(2):
        make.model()
    rule(team, "warn", category="Mine")
    rule(None, "block", category="Theirs")
    with pytest.raises(PromptRefused, match="Theirs"):
        start_session(actor=Actor(user=owner), prompt="Solve my exercise sheet", place=team)
    verdicts = ModerationCase.objects.get().verdicts.values_list("category", flat=True)
    assert list(verdicts) == ["Theirs"]


def test_team_rule_warns_once_and_leaves_no_case(team, owner):
    for _ in range(2):
        make.model()
    rule(team, "warn")
    battle = start_session(actor=Actor(user=owner), prompt="Solve my exercise sheet", place=team)
    assert battle.turns.get().warnings == ["Homework"]
    make.complete_answers(battle)
    assert follow_up(actor=Actor(user=owner), battle=battle, prompt="And the next one").warnings == []
    assert not ModerationCase.objects.exists()


def test_suggestions_of_the_team_come_first(team, owner, client):
    PromptSuggestion.objects.all().delete()
    for _ in range(2):
        make.model()
    suggestion(None, "Of the site")
    suggestion(team, "Of the team")
    assert suggestions(team.pk) == ["Of the team", "Of the site"]
    assert suggestions() == ["Of the site"]
    browser = make.browser(Actor(user=owner))
    assert "Of the team" in browser.get("/?team=physics").content.decode()
    assert "Of the team" not in browser.get("/?team=").content.decode()
    assert "Of the team" not in client.get("/").content.decode()
    listed = browser.get("/api/v1/suggestions/?team=physics").json()["results"]
    assert [row["prompt"] for row in listed] == ["Of the team", "Of the site"]
    assert client.get("/api/v1/suggestions/?team=physics").status_code == 404


def test_rule_of_auto_mode_knows_the_teams_category(team, owner):
    models = [make.model() for _ in range(3)]
    category(team)
    Rule.objects.create(team=team, category="~optics", target="model", model=models[0], is_active=True)

    def policy_of(team_id: int | None) -> str:
        return route(RoutingRequest(("What does a lens do?",), team_id=team_id), Actor(user=owner)).policy

    assert policy_of(team.pk).startswith("rule ")
    assert not policy_of(None).startswith("rule ")


def test_database_refuses_to_mix_owners(team, owner):
    rows = [category(team), rule(team, "block"), suggestion(team, "x")]
    for row in rows:
        with pytest.raises(ProgrammingError, match="Cannot update"), transaction.atomic():
            type(row).of_every_owner.filter(pk=row.pk).update(team=None)
    battle = make.battle(make.model(), make.model())
    with pytest.raises(IntegrityError, match="a_verdict_is_by_a_rule_of_the_site"), transaction.atomic():
        open_case(battle).verdicts.create(rule=rows[1], category="x", action="block", version="1")
    for fields in ({"action": "log"}, {"action": "block", "kind": "endpoint"}):
        with pytest.raises(IntegrityError, match="warns_or_refuses"), transaction.atomic():
            ModerationRule.of_every_owner.create(team=team, category="x", patterns=["x"], **fields)
    with pytest.raises(IntegrityError, match="an_owner_names_a_category_once"), transaction.atomic():
        category(team)
