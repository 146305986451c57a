import pytest
from django.contrib.auth.models import Permission
from kombu.exceptions import OperationalError

from accounts.models import AuditEntry
from battles.models import Vote
from leaderboard import tasks
from leaderboard.counting import tallies
from leaderboard.models import AnomalyReview
from tests import make
from tests.leaderboard.tally_checks import aggregate
from tests.leaderboard.vote_factory import cast, cast_many, contestants

VOTES = "/admin/battles/vote/"
REVIEWS = "/admin/leaderboard/anomalyreview/"


@pytest.fixture
def moderator(client):
    user = make.user(is_staff=True)
    names = ["view_vote", "view_votechange", "add_votechange", "view_anomalyreview"]
    user.user_permissions.set(Permission.objects.filter(codename__in=names))
    client.force_login(user)
    return user


@pytest.fixture
def counted():
    votes = cast_many(*contestants("a", "b"), left=4, right=3)
    aggregate()
    return votes


@pytest.fixture
def review():
    a, b = contestants("a", "b")
    votes = [cast(a, b, "left", voter="visitor:1", excluded="anomaly") for _ in range(3)]
    aggregate()
    return AnomalyReview.objects.create(
        voter="visitor:1", orders=[vote.order for vote in votes], last_order=votes[-1].order, log_e=12.3, crossed=2,
        evidence={"kind": "model", "model": "a", "tilt": 1.5, "votes": 3, "observed": 3.0, "expected": 1.4},
        effect=[{"model": "a", "score": [1612.4, 1498.2], "rank": [1, 2]}],
    )  # fmt: skip


def choose(votes, action: str, **more: str) -> dict[str, object]:
    return {"action": action, "_selected_action": [vote.pk for vote in votes], **more}


@pytest.mark.slow
@pytest.mark.django_db
def test_selected_votes_are_excluded_and_restored(client, moderator, counted):
    page = client.post(VOTES, choose(counted[:3], "exclude_votes"))
    assert "3 votes are chosen" in page.content.decode()
    given = choose(counted[:3], "exclude_votes", because="cast by a script", reason="moderation")
    assert "3 votes are changed" in client.post(VOTES, given, follow=True).content.decode()
    run = aggregate()
    assert (run.votes_counted, run.votes_excluded) == (4, {"moderation": 3})
    given = choose(counted, "restore_votes", because="it was a lesson")
    assert "3 votes are changed" in client.post(VOTES, given, follow=True).content.decode()
    assert aggregate().votes_counted == 7
    assert list(AuditEntry.objects.values_list("user", "action", "subject", "reason")) == [
        (moderator.pk, "vote.restore", "3 votes", "it was a lesson"),
        (moderator.pk, "vote.retract", "3 votes", "cast by a script"),
    ]
    assert tallies.rebuild() == 0


@pytest.mark.django_db
def test_exclusion_without_reason_is_refused(client, moderator, counted):
    client.post(VOTES, choose(counted, "exclude_votes", because=" ", reason="moderation"))
    assert not Vote.objects.exclude(excluded_reason="").exists()


@pytest.mark.django_db
def test_excluding_many_votes_has_bounded_query_count(client, moderator, counted, django_assert_max_num_queries):
    cast_many(*contestants("c", "d"), left=40)
    aggregate()
    given = choose(Vote.objects.all(), "exclude_votes", because="a script", reason="moderation")
    with django_assert_max_num_queries(40):
        client.post(VOTES, given)
    assert aggregate().votes_counted == 0


@pytest.mark.django_db
def test_review_page_shows_evidence_and_effect(client, moderator, review):
    assert "a took 3 of 3 votes; 1 were to be expected" in client.get(REVIEWS).content.decode()
    page = client.get(f"{REVIEWS}{review.pk}/change/").content.decode()
    for shown in ("1612.4", "1498.2", "Exclude these votes", "They are fine"):
        assert shown in page


@pytest.mark.django_db
@pytest.mark.parametrize(("state", "reason"), [("dismissed", ""), ("excluded", "moderation")])
def test_review_decision_requires_reason(client, moderator, review, state, reason):
    url = f"{REVIEWS}{review.pk}/decide/"
    client.post(url, {"state": state, "because": ""})
    assert AnomalyReview.objects.get().state == "open"
    for _ in range(2):  # a double click
        client.post(url, {"state": state, "because": "I looked at them"})
    decided = AnomalyReview.objects.get()
    assert (decided.state, decided.decided_by, decided.reason) == (state, moderator, "I looked at them")
    assert set(Vote.objects.values_list("excluded_reason", flat=True)) == {reason}
    assert AuditEntry.objects.get().user == moderator


@pytest.mark.django_db
def test_staff_without_permission_cannot_decide(client, review):
    viewer = make.user(is_staff=True)
    viewer.user_permissions.set(Permission.objects.filter(codename__in=["view_vote", "view_anomalyreview"]))
    client.force_login(viewer)
    client.post(VOTES, choose(Vote.objects.all(), "restore_votes", because="x"))
    assert set(Vote.objects.values_list("excluded_reason", flat=True)) == {"anomaly"}
    assert client.post(f"{REVIEWS}{review.pk}/decide/", {"state": "excluded", "because": "x"}).status_code == 403
    assert client.post(f"{REVIEWS}look/").status_code == 403
    assert "Exclude these votes" not in client.get(f"{REVIEWS}{review.pk}/change/").content.decode()
    assert not AuditEntry.objects.exists()


@pytest.mark.django_db
def test_moderator_can_request_anomaly_check(
    client, moderator, counted, monkeypatch, django_capture_on_commit_callbacks
):
    def fail(*_):
        raise OperationalError("no broker")

    monkeypatch.setattr(tasks.look_for_anomalies, "delay", fail)
    with django_capture_on_commit_callbacks(execute=True):
        assert client.post(f"{REVIEWS}look/").status_code == 302
    assert AuditEntry.objects.get().action == "leaderboard.look_for_anomalies"
