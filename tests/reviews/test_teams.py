"""Reviews of a team: its people, guests too, are asked; all others get what a random id gives."""

from dataclasses import dataclass

import pytest
from django.db import DatabaseError, IntegrityError, transaction
from django.test import Client

from accounts.actor import Actor
from accounts.errors import NotInTeam
from accounts.models import Role, Scope, Team, User
from accounts.teams import actions as team_actions
from battles.actions import cast_vote
from battles.models import Battle, Session, Vote
from benchmarks.models import Judging
from benchmarks.streaming import RunToken
from common.errors import InvalidInput
from reviews import actions
from reviews.errors import ReviewsOpen
from reviews.models import Review, ReviewBattle, RunReader
from tests import make
from tests.worlds.benchmarks import judged_runs, samples
from tests.worlds.benchmarks.samples import Sample
from tests.worlds.reviews.second_opinions import asked_about

pytestmark = pytest.mark.django_db


@dataclass
class Place:
    team: Team
    people: dict[Role, User]
    sample: Sample
    review: Review


@pytest.fixture
def place() -> Place:
    people = {role: make.user() for role in Role}
    members = {role: [people[role]] for role in Role if role != Role.OWNER}
    team = make.team(people[Role.OWNER], slug="physics", members=members)
    sample = samples.sample(people[Role.MANAGER], [make.team_model(team, slug="own"), make.model(slug="site")], team)
    made = actions.create_review(owner=people[Role.MANAGER], run=sample.run, opinions_per_item=5)
    return Place(team, people, sample, actions.open_review(made))


def test_people_of_the_team_are_asked(place: Place):
    assert (place.review.team, place.review.audience) == (place.team, "team")
    for role, user in place.people.items():
        browser = make.browser(Actor(user=user))
        assert place.review.get_absolute_url() in browser.get("/reviews/").content.decode(), role
        assert browser.get(place.review.get_absolute_url()).status_code == 200
        begun = browser.post(f"/review/{place.review.public_id}/next/")
        battle = Battle.objects.latest("pk")
        page = browser.get(begun["Location"].partition("#")[0]).content.decode()
        assert 'value="left"' in page, role
        browser.post(f"/battles/{battle.public_id}/vote/", {"choice": "left"})
        assert Vote.objects.get(battle=battle).excluded_reason == ("knew_answers" if role == Role.MANAGER else "")
    assert {session.team for session in Session.objects.filter(battles__series=place.review.public_id)} == {place.team}
    assert not Vote.objects.filter(on_site_boards=True).exists()


def test_rights_decide_on_settings(place: Place):
    statuses = {
        role: make.browser(Actor(user=user)).get(place.review.settings_url).status_code
        for role, user in place.people.items()
    }
    assert statuses == {Role.OWNER: 200, Role.MANAGER: 200, Role.MEMBER: 403, Role.GUEST: 404}


def test_teams_managers_vote_before_results_so_far(place: Place):
    terms = {"owner": place.people[Role.MANAGER], "run": place.sample.run, "opinions_per_item": 5}
    review = actions.open_review(actions.create_review(**terms, hides_results=False))
    results = f"/review/{review.public_id}/results/"
    manager = Actor(user=place.people[Role.OWNER])
    browsers = {role: make.browser(Actor(user=user)) for role, user in place.people.items()}
    shown = {role: browser.get(results).context["shows_results"] for role, browser in browsers.items()}
    assert shown == {Role.OWNER: False, Role.MANAGER: True, Role.MEMBER: False, Role.GUEST: False}
    while (battle := actions.next_battle(manager, review)) is not None:
        assert cast_vote(actor=manager, battle=battle, choice=Vote.Choice.LEFT).excluded_reason in ("", "repeated")
    assert browsers[Role.OWNER].get(results).context["shows_results"]


def test_open_review_hides_judged_answers_from_the_team(place: Place):
    owner = place.people[Role.MANAGER]
    judge = judged_runs.judge(make.model(), owner, team=place.team)
    judged_runs.answer(judged_runs.judging(judge, place.sample.run), "judge-longer")
    run = f"benchmarks/r/{place.sample.run.public_id}"
    in_api = f"api/v1/benchmarks/runs/{place.sample.run.public_id}"
    addresses = [
        f"/{run}/judgements/{judge.public_id}/", f"/{run}/judgements.csv", f"/{in_api}/judgements/",
        f"/{in_api}/judgements.csv",
    ]  # fmt: skip
    browser = make.browser(Actor(user=place.people[Role.MEMBER]))
    assert [browser.get(address).status_code for address in addresses] == [403] * 4
    assert [make.browser(Actor(user=owner)).get(address).status_code for address in addresses] == [200] * 4
    actions.close_review(place.review)
    assert [browser.get(address).status_code for address in addresses] == [200] * 4


def judging_pages(judging: Judging) -> list[str]:
    """Return addresses with the replies and verdicts of a judging, as those of any run."""
    run, item = judging.run.public_id, judging.run.items.order_by("pk")[0]
    return [
        f"/benchmarks/r/{run}/matrix/", f"/benchmarks/r/{run}/items/{item.pk}/",
        f"/benchmarks/r/{run}/case/{item.case_id}/", f"/benchmarks/r/{run}/export.csv",
        f"/benchmarks/r/{run}/export.jsonl", f"/api/v1/benchmarks/runs/{run}/items/",
        f"/api/v1/benchmarks/items/{run}-{item.pk}/", f"/api/v1/benchmarks/runs/{run}/export.csv",
    ]  # fmt: skip


@pytest.fixture
def judging(place: Place) -> Judging:
    """A judging of the reviewed run, which another person than the run's owner started."""
    maker = place.people[Role.OWNER]
    judge = judged_runs.judge(make.model(), maker, team=place.team)
    return judged_runs.answer(judged_runs.judging(judge, place.sample.run, owner=maker), "judge-longer")


def test_open_review_hides_judgings_from_their_makers(place: Place, judging: Judging):
    people = {role: make.browser(Actor(user=user)) for role, user in place.people.items()}
    for address in judging_pages(judging):
        seen = {role: people[role].get(address).status_code for role in Role}
        wanted = {Role.OWNER: 403, Role.MANAGER: 200, Role.MEMBER: 403, Role.GUEST: 404}  # the manager owns the run
        assert seen == wanted, address
    actions.close_review(place.review)
    for address in judging_pages(judging):
        assert [people[role].get(address).status_code for role in (Role.OWNER, Role.MEMBER)] == [200, 200], address


def test_open_review_hides_verdicts_of_a_live_judging(place: Place):
    maker = place.people[Role.OWNER]
    judge = judged_runs.judge(make.model(), maker, team=place.team)
    run = judged_runs.judging(judge, place.sample.run, owner=maker).run

    def sends_items(role: Role) -> bool:
        payload = make.browser(Actor(user=place.people[role])).get(f"/api/v1/benchmarks/runs/{run.public_id}/").json()
        return RunToken.read_or_404(payload["stream_url"].split("/")[-2]).with_items

    assert [sends_items(role) for role in (Role.MANAGER, Role.OWNER, Role.MEMBER)] == [True, False, False]
    page = make.browser(Actor(user=maker)).get(f"/benchmarks/r/{place.sample.run.public_id}/judgements/")
    assert not RunToken.read_or_404(page.context["stream"]).with_items
    assert not RunReader.objects.exists()
    actions.close_review(place.review)
    assert sends_items(Role.MEMBER)


def test_reader_of_a_judging_votes_without_counting(place: Place, judging: Judging):
    actions.close_review(place.review)
    readers = [Actor(user=place.people[role]) for role in (Role.OWNER, Role.MEMBER)]
    for reader in readers:
        make.browser(reader).get(judging_pages(judging)[1])
    known = RunReader.objects.values_list("run", "person")
    assert set(known) == {(place.sample.run.pk, reader.key) for reader in readers}
    terms = {"owner": place.people[Role.MANAGER], "run": place.sample.run, "opinions_per_item": 5}
    again = actions.open_review(actions.create_review(**terms))
    for reader in readers:
        battle = actions.next_battle(reader, again)
        assert battle is not None
        assert cast_vote(actor=reader, battle=battle, choice=Vote.Choice.LEFT).excluded_reason == "knew_answers"


def test_open_review_hides_replies_from_judge_editor(place: Place):
    maker = place.people[Role.MEMBER]
    judge, [item, *_] = judged_runs.judge(make.model(), maker, team=place.team), place.sample.run.items.order_by("pk")
    answer = f"?run={place.sample.run.public_id}&item={item.pk}"
    addresses = [f"/benchmarks/judges/{path}/{answer}" for path in ("new", f"{judge.public_id}/edit")]
    browser = make.browser(Actor(user=maker))
    assert [browser.get(address).status_code for address in addresses] == [403, 403]
    assert not RunReader.objects.exists()
    actions.close_review(place.review)
    pages = [browser.get(address) for address in addresses]
    assert [(page.status_code, "It is **Paris**." in page.text) for page in pages] == [(200, True)] * 2
    assert RunReader.objects.get().person == Actor(user=maker).key


def test_outsiders_get_what_a_random_id_gives(place: Place):
    removed = make.user()
    team_actions.add_member(by=place.people[Role.OWNER], team=place.team, user=removed, role=Role.MEMBER)
    team_actions.remove_member(by=place.people[Role.OWNER], member=place.team.members.get(user=removed))
    manager = place.people[Role.MANAGER]
    clients = [
        make.browser(make.member()), make.browser(make.visitor()), make.browser(Actor(user=removed)),
        make.api(manager), make.api(make.user()),
    ]  # fmt: skip
    for client in clients:
        for path in ("", "next/", "results/", "agreement/", "progress/", "close/"):
            address = "/api/v1/reviews/{}/" + path
            for method in (client.get, client.post):
                real, random = (method(address.format(key)) for key in (place.review.public_id, "x" * 22))
                assert real.status_code == random.status_code, (address, method)
                assert real.content == random.content
        assert client.get(place.review.get_absolute_url()).status_code == 404
        assert place.team.name not in client.get("/reviews/").content.decode()


def test_token_of_the_team_votes_in_its_place(place: Place):
    member = place.people[Role.MEMBER]
    token = make.token(member, team=place.team, scopes=[Scope.READ, Scope.VOTE])
    api = Client(headers={"Authorization": f"Bearer {token}"})
    battle = api.post(f"/api/v1/reviews/{place.review.public_id}/next/").json()
    voted = api.post(f"/api/v1/battles/{battle['id']}/vote/", {"choice": "tie"}, "application/json")
    assert voted.status_code == 201
    assert [row["team"] for row in api.get("/api/v1/reviews/").json()["results"]] == ["physics"]


def test_person_who_left_does_not_vote(place: Place):
    member = Actor(user=place.people[Role.GUEST])
    battle = actions.next_battle(member, place.review)
    assert battle is not None
    team_actions.remove_member(by=place.people[Role.OWNER], member=place.team.members.get(user=member.user))
    left = Actor(user=User.objects.get(pk=place.people[Role.GUEST].pk))
    with pytest.raises(NotInTeam):
        cast_vote(actor=left, battle=battle, choice=Vote.Choice.LEFT)


def test_review_of_a_team_stays_in_it(place: Place):
    with pytest.raises(InvalidInput):
        actions.create_review(owner=place.people[Role.MANAGER], run=place.sample.run, audience="everyone")
    personal = samples.sample(make.user(), [make.model(), make.model()])
    other = actions.create_review(owner=personal.run.owner, run=personal.run)
    mixing = [
        (IntegrityError, "a_review_of_a_team_stays", {"pk": other.pk}, {"audience": "team"}),
        (DatabaseError, "Cannot update", {"pk": other.pk}, {"team": place.team}),
        (IntegrityError, "a_reviews_run_is_of_its_place", {"pk": other.pk}, {"run": place.sample.run}),
    ]
    for error, name, row, change in mixing:
        with pytest.raises(error, match=name), transaction.atomic():
            Review.objects.filter(**row).update(**change)
    actions.next_battle(Actor(user=place.people[Role.MEMBER]), place.review)
    foreign = make.stored_battle(make.model(), make.model())
    with pytest.raises(IntegrityError, match="a_reviews_battle_is_of_its_series"), transaction.atomic():
        ReviewBattle.objects.update(battle=foreign)


def test_archiving_a_team_ends_its_second_opinions(place: Place):
    asked = asked_about(Actor(user=place.people[Role.MEMBER]), place=place.team)
    with pytest.raises(ReviewsOpen):
        team_actions.archive_team(by=place.people[Role.OWNER], team=place.team)
    asked.refresh_from_db()
    assert asked.state == "open"
    actions.close_review(place.review)

    team_actions.archive_team(by=place.people[Role.OWNER], team=place.team)

    asked.refresh_from_db()
    place.team.refresh_from_db()
    assert (asked.state, place.team.archived_at is None) == ("withdrawn", False)
