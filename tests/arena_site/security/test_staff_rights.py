import pytest
from django.contrib.messages import get_messages
from django.test import Client

from accounts.actor import Actor
from accounts.models import AuditEntry, Ban, User, Visitor
from battles import actions
from battles.models import Battle, ModerationCase, Vote
from common.client_ip import network_hash
from leaderboard.models import AnomalyReview
from tests import make

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
BANS, VOTES, QUEUE = "/admin/accounts/ban/", "/admin/battles/vote/", "/admin/battles/moderationcase/"
NETWORK = "2026-11:0123456789abcdef"
STAFF_ONLY = "Only an administrator can block staff, or a network that staff comes from."
ARENAS_OWN = sorted(set(Vote.ExcludedReason) - {Vote.ExcludedReason.MODERATION, Vote.ExcludedReason.OPERATOR})


@pytest.fixture
def administrator_browser(client: Client, administrator: User) -> Client:
    administrator_browser = Client()
    administrator_browser.force_login(administrator)
    return administrator_browser


def ban_form(**whom: object) -> dict[str, object]:
    return {"reason": "Advertising.", "expires_at_0": "", "expires_at_1": "", **whom}


def voted(actor: Actor, *, reason: str = "") -> Vote:
    battle = make.answered_battle(make.model(), make.model(), actor=actor)
    vote = actions.cast_vote(actor=actor, battle=battle, choice=Vote.Choice.LEFT)
    Vote.objects.filter(pk=vote.pk).update(excluded_reason=reason)
    return vote


def judge(client: Client, action: str, *votes: Vote) -> str:
    """Run an action on votes and return the list's page."""
    form = {"action": action, "_selected_action": [vote.pk for vote in votes], "because": "x", "reason": "moderation"}
    return client.post(VOTES, form, follow=True).text


def reasons(*votes: Vote) -> set[str]:
    return set(Vote.objects.filter(pk__in=[vote.pk for vote in votes]).values_list("excluded_reason", flat=True))


def test_ban_of_administrator_needs_administrator(at_work: Client, administrator_browser: Client, administrator: User):
    page = at_work.post(f"{BANS}add/", ban_form(user=administrator.pk))
    assert (page.status_code, STAFF_ONLY in page.text) == (200, True)
    assert not Ban.objects.exists()
    assert administrator_browser.post(f"{BANS}add/", ban_form(user=administrator.pk)).status_code == 302


def test_ban_of_other_moderator_needs_administrator(at_work: Client):
    at_work.post(f"{BANS}add/", ban_form(user=make.user(is_staff=True).pk))
    assert not Ban.objects.exists()


def test_ban_of_administrators_visitor_needs_administrator(at_work: Client, administrator: User):
    visit = Visitor.objects.create(claimed_by=administrator)
    at_work.post(f"{BANS}add/", ban_form(visitor=visit.pk))
    assert not Ban.objects.exists()


def test_ban_of_administrators_network_needs_administrator(at_work: Client, administrator: User):
    Visitor.objects.create(claimed_by=administrator, network=NETWORK)
    assert STAFF_ONLY in at_work.post(f"{BANS}add/", ban_form(network=NETWORK)).text
    assert not Ban.objects.exists()
    assert at_work.post(f"{BANS}add/", ban_form(network="2026-11:another")).status_code == 302


def test_network_ban_does_not_block_administrator(rf, administrator: User):
    Ban.objects.create(network=network_hash(rf.get("/")), reason="Advertising.")
    for _ in range(2):
        make.model()
    prompt = {"prompt": "one two three", "mode": "blind"}
    assert make.browser(make.visitor()).post("/", prompt).status_code == 403
    assert make.browser(Actor(user=administrator)).post("/", prompt).status_code == 303


@pytest.mark.parametrize("kind", ["user", "visitor", "visited_network", "network"])
def test_own_ban_is_lifted_by_administrator(
    at_work: Client, administrator_browser: Client, moderator: User, rf, kind: str
):
    visit = Visitor.objects.create(claimed_by=moderator, network=NETWORK)
    whom = {
        "user": {"user": moderator}, "visitor": {"visitor": visit}, "visited_network": {"network": NETWORK},
        "network": {"network": network_hash(rf.get("/"))},
    }[kind]  # fmt: skip
    ban = Ban.objects.create(reason="Advertising.", **whom)
    lift = {"action": "lift", "_selected_action": [ban.pk]}
    assert "Only an administrator can lift a block that holds for you." in at_work.post(BANS, lift, follow=True).text
    assert Ban.objects.in_force().exists()
    assert not AuditEntry.objects.exists()
    administrator_browser.post(BANS, lift)
    assert not Ban.objects.in_force().exists()


def test_refused_lift_lifts_no_other_ban(at_work: Client, moderator: User):
    bans = [Ban.objects.create(reason="x", user=user) for user in (make.user(), moderator)]
    at_work.post(BANS, {"action": "lift", "_selected_action": [ban.pk for ban in bans]})
    assert Ban.objects.in_force().count() == 2


@pytest.mark.parametrize("reason", ARENAS_OWN)
def test_arenas_own_exclusion_is_lifted_by_administrator(at_work: Client, administrator_browser: Client, reason: str):
    vote, other = voted(make.visitor(), reason=reason), voted(make.visitor(), reason="operator")
    assert "that the arena itself excluded" in judge(at_work, "restore_votes", vote, other)
    assert reasons(vote, other) == {reason, "operator"}
    assert "1 vote is changed" in judge(at_work, "restore_votes", other)
    assert "1 vote is changed" in judge(administrator_browser, "restore_votes", vote)
    assert reasons(vote, other) == {""}


@pytest.mark.parametrize(("action", "reason"), [("restore_votes", "moderation"), ("exclude_votes", "")])
@pytest.mark.parametrize("whose", ["own", "administrators"])
def test_votes_of_staff_are_judged_by_administrator(
    at_work: Client,
    administrator_browser: Client,
    moderator: User,
    administrator: User,
    action: str,
    reason: str,
    whose: str,
):
    vote = voted(Actor(user=moderator if whose == "own" else administrator), reason=reason)
    assert "your own votes and those of administrators" in judge(at_work, action, vote)
    assert reasons(vote) == {reason}
    assert "1 vote is changed" in judge(administrator_browser, action, vote)


@pytest.mark.parametrize("is_group", [False, True])
@pytest.mark.parametrize("state", ["dismissed", "excluded"])
def test_own_review_is_decided_by_administrator(
    at_work: Client, administrator_browser: Client, moderator: User, state: str, is_group: bool
):
    vote = voted(Actor(user=moderator), reason="anomaly")
    vote.refresh_from_db()
    group = {"voter": "", "group": "day", "first_day": "2026-03-18", "model": vote.model_left}
    review = AnomalyReview.objects.create(
        **(group if is_group else {"voter": vote.voter}), orders=[vote.order], last_order=vote.order, log_e=12.3,
        crossed=2, evidence={"kind": "chance", "votes": 1},
    )  # fmt: skip
    decision = {"state": state, "because": "I was in a hurry."}
    path = f"/admin/leaderboard/anomalyreview/{review.pk}/decide/"
    refused = at_work.post(path, decision)
    assert "your own votes" in " ".join(str(message) for message in get_messages(refused.wsgi_request))
    assert AnomalyReview.objects.get().state == "open"
    assert reasons(vote) == {"anomaly"}
    administrator_browser.post(path, decision)
    assert AnomalyReview.objects.get().state == state


@pytest.mark.parametrize("action", ["dismiss", "hide", "show_again", "exclude_votes", "ban"])
def test_own_case_is_decided_by_administrator(
    at_work: Client, administrator_browser: Client, moderator: User, action: str
):
    vote = voted(Actor(user=moderator))
    if action == "show_again":
        Battle.objects.update(hidden_at="2026-01-01T00:00Z")
    case = ModerationCase.objects.create(battle=vote.battle)
    form = {"action": action, "_selected_action": [case.pk], "because": "It is fine."}
    assert "Only an administrator can decide on your own battles." in at_work.post(QUEUE, form, follow=True).text
    assert not AuditEntry.objects.exists()
    assert "1 case is decided" in administrator_browser.post(QUEUE, form, follow=True).text
