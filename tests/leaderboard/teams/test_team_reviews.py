"""Held votes of a team's board: judged apart from the site's, decided by owners."""

import re

import pytest
from django.contrib.auth.models import Permission

from accounts.models import AuditEntry, Role
from battles.models import Vote
from leaderboard.aggregation import anomalies
from leaderboard.counting import reviews
from leaderboard.models import AggregationRun, AnomalyReview, TeamBoard
from tests import make
from tests.leaderboard.tally_checks import aggregate
from tests.leaderboard.teams.votes import cast_in
from tests.leaderboard.vote_factory import ballot, cast_all, contestants
from tests.pages import compact

pytestmark = pytest.mark.django_db
EVIDENCE = {"kind": "ties", "observed": 6, "votes": 8, "expected": 2}


@pytest.fixture
def pair():
    return contestants("a", "b")


def hold(votes: list[Vote], team=None) -> AnomalyReview:
    last = max(vote.order for vote in votes)
    suspect = reviews.Suspect(last, 20.0, 5, EVIDENCE, [], team=team and team.pk)
    assert reviews.open_review(suspect)
    return AnomalyReview.objects.latest("pk")


def overall_of(team) -> AggregationRun:
    return AggregationRun.objects.snapshots(f"team:{team.pk}/overall", team.pk)[0]


@pytest.fixture
def held(pair, settings):
    """A team whose second voter is under review, and the same person's votes on the site."""
    settings.ARENA_MAX_HELD_SHARE = {"voters": 0.5, "groups": 0.5}
    owner, member = make.user(), make.user()
    team = make.team(owner, members={Role.MEMBER: [member]})
    cast_in(team, pair, voters=1, left=20)
    on_site = cast_all([ballot(*pair, "left", voter=f"user:{member.pk}") for _ in range(9)])
    suspicious = cast_all(
        [ballot(*pair, "tie", team=team, on_site_boards=False, voter=f"user:{member.pk}") for _ in range(8)]
    )
    aggregate()
    return owner, member, team, hold(suspicious, team), on_site


def test_review_of_team_holds_its_votes_alone(held):
    _owner, _member, team, review, on_site = held
    assert (len(review.orders), review.over_cap) == (8, False)
    assert not Vote.objects.filter(pk__in=[vote.pk for vote in on_site]).exclude(excluded_reason="").exists()
    assert aggregate().votes_counted == 9
    assert (overall_of(team).votes_counted, overall_of(team).votes_excluded) == (20, {"anomaly": 8})
    assert AnomalyReview.objects.held_votes() == 0
    assert AnomalyReview.objects.held_votes(team.pk) == 8


def test_later_votes_are_held_in_their_place_alone(held, pair):
    _owner, member, team, review, _on_site = held
    voter = f"user:{member.pk}"
    cast_all([ballot(*pair, "left", voter=voter), ballot(*pair, "tie", team=team, on_site_boards=False, voter=voter)])
    assert aggregate().votes_counted == 10
    review.refresh_from_db()
    assert len(review.orders) == 9


def test_owner_decides_about_held_votes(held):
    owner, member, team, review, _on_site = held
    url = f"/teams/{team.slug}/boards/"
    browser = make.browser(make.Actor(user=owner))
    text = browser.get(url).content.decode()
    assert member.email in text
    assert "6 of 8 votes were ties; 2 were to be expected" in text
    assert browser.post(url, {"review": review.pk, "state": "maybe"}).status_code == 400
    sent = {"review": review.pk, "state": "dismissed", "because": "a class"}
    assert browser.post(url, sent).status_code == browser.post(url, sent).status_code == 302
    aggregate()
    assert overall_of(team).votes_counted == 28
    assert AuditEntry.objects.filter(action="review.dismissed", user=owner).count() == 1


@pytest.mark.parametrize(("role", "status"), [(Role.MANAGER, 403), (Role.MEMBER, 403), (Role.GUEST, 403), (None, 404)])
def test_others_neither_see_nor_decide(held, role, status):
    _owner, _member, team, review, _on_site = held
    person = make.user()
    if role:
        team.members.create(user=person, role=role)
    browser, url = make.browser(make.Actor(user=person)), f"/teams/{team.slug}/boards/"
    assert browser.get(url).status_code == status
    assert browser.post(url, {"review": review.pk, "state": "dismissed", "because": "x"}).status_code == status
    assert AnomalyReview.objects.get(pk=review.pk).state == "open"


def test_owner_does_not_judge_own_votes(held):
    _owner, member, team, review, _on_site = held
    team.members.filter(user=member).update(role=Role.OWNER)
    browser = make.browser(make.Actor(user=member))
    sent = {"review": review.pk, "state": "dismissed", "because": "x"}
    assert browser.post(f"/teams/{team.slug}/boards/", sent).status_code == 403


def test_review_of_another_team_is_not_found(held):
    review = held[3]
    stranger = make.user()
    other = make.team(stranger)
    sent = {"review": review.pk, "state": "dismissed", "because": "x"}
    assert make.browser(make.Actor(user=stranger)).post(f"/teams/{other.slug}/boards/", sent).status_code == 404


def test_moderators_see_pseudonyms_and_counts(held, client, administrator):
    _owner, member, _team, review, _on_site = held
    client.force_login(administrator)
    text = client.get("/admin/leaderboard/anomalyreview/").content.decode()
    assert "In teams, whose owners decide" in text
    assert f"user:{member.pk}<" not in text
    assert client.get(f"/admin/leaderboard/anomalyreview/{review.pk}/change/").status_code == 302
    decide = f"/admin/leaderboard/anomalyreview/{review.pk}/decide/"
    assert client.post(decide, {"state": "dismissed", "because": "x"}).status_code == 404


def test_moderators_see_no_votes_of_teams(held, client):
    _owner, _member, team, _review, on_site = held
    moderator = make.user(is_staff=True)
    names = ("view_vote", "view_aggregationrun", "view_standing", "view_votechange")
    moderator.user_permissions.set(Permission.objects.filter(codename__in=names))
    client.force_login(moderator)
    votes = client.get("/admin/battles/vote/").context["cl"].result_list
    assert {vote.pk for vote in votes} == {vote.pk for vote in on_site}
    runs = client.get("/admin/leaderboard/aggregationrun/").context["cl"].result_list
    assert {run.team_id for run in runs} == {None}
    for table in ("standing", "votechange"):
        assert f"team:{team.pk}/" not in client.get(f"/admin/leaderboard/{table}/").content.decode()


def test_anomalies_of_places_do_not_meet(held, monkeypatch):
    team = held[2]
    seen = []
    monkeypatch.setattr(anomalies, "screen_voters", lambda dated, **_: seen.append(len(dated.votes)) or 1 / 0)
    for place in (None, team.pk):
        with pytest.raises(ZeroDivisionError):
            anomalies.find_anomalies(place)
    assert seen == [9, 20]


def test_owner_switches_boards_on_and_off(held):
    owner, _member, team, _review, _on_site = held
    browser, url = make.browser(make.Actor(user=owner)), f"/teams/{team.slug}/boards/"
    assert browser.post(url, {"boards": ["category:coding", "category:none"]}).status_code == 302
    team.refresh_from_db()
    assert list(TeamBoard.objects.filter(team=team).values_list("name", flat=True)) == ["category:coding"]
    assert browser.post(url, {"counts_on_site_boards": "1"}).status_code == 302
    team.refresh_from_db()
    assert (team.counts_on_site_boards, TeamBoard.objects.exists()) == (True, False)
    assert AuditEntry.objects.filter(action="choose boards of team").count() == 2


def test_owners_page_has_the_teams_frame():
    owner = make.user()
    team = make.team(owner, slug="physics")
    text = compact(make.browser(make.Actor(user=owner)).get("/teams/physics/boards/").text)
    assert re.findall(r"<h1>.*?<bdi>(.*?)</bdi>", text) == [team.name]
    assert re.findall(r'<a href="([^"]+)" aria-current="page">', text) == ["/teams/physics/boards/"]


@pytest.mark.parametrize("decision", ["excluded", "dismissed"])
def test_owners_decide_about_votes_on_own_models(settings, decision: str):
    settings.ARENA_MAX_HELD_SHARE = {"voters": 0.5, "groups": 0.5}
    owner, member = make.user(), make.user()
    team = make.team(owner, slug="physics", members={Role.MEMBER: [member]})
    foxes = [make.model(slug="fox"), make.team_model(team, slug="fox")]
    cast_in(team, foxes, voters=6, left=10, right=10)
    suspicious = cast_all(
        [ballot(*foxes, "right", team=team, on_site_boards=False, voter=f"user:{member.pk}") for _ in range(8)]
    )
    aggregate()
    evidence = {**EVIDENCE, "kind": "model", "model": "~fox", "observed": 8}
    last = max(vote.order for vote in suspicious)
    assert reviews.open_review(reviews.Suspect(last, 20.0, 5, evidence, [], team=team.pk))
    aggregate()
    run = overall_of(team)
    assert (run.votes_counted, run.votes_excluded) == (20, {"anomaly": 8})
    client = make.browser(make.Actor(user=owner))
    page = client.get("/teams/physics/boards/").text
    assert "physics~fox took 8 of 8 votes; 2 were to be expected" in page
    assert "28.6 % of Overall" in page
    review = AnomalyReview.objects.get(team=team)
    data = {"review": review.pk, "state": decision, "because": "looked at them"}
    assert client.post("/teams/physics/boards/", data).status_code == 302
    aggregate()
    run = overall_of(team)
    left = {"dismissed": (28, {}), "excluded": (20, {"moderation": 8})}[decision]
    assert (run.votes_counted, run.votes_excluded) == left
