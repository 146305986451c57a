import pytest
from django.test import Client

from accounts.actor import Actor
from battles import actions
from battles.models import Battle, ModerationCase, Report, Turn, Vote
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def actor() -> Actor:
    return make.visitor()


@pytest.fixture
def owner(actor: Actor) -> Client:
    return make.browser(actor)


@pytest.fixture
def battle(actor: Actor) -> Battle:
    return make.answered_battle(make.model(), make.model(), actor=actor)


def published(actor: Actor, battle: Battle) -> str:
    actions.cast_vote(actor=actor, battle=battle, choice=Vote.Choice.LEFT)
    return actions.publish(battle=battle).public_id


def send(client: Client, public_id: str, reason: str = "It is rude."):
    return client.post(f"/api/v1/battles/{public_id}/report/", {"reason": reason}, content_type="application/json")


def test_second_report_returns_first(owner: Client, battle: Battle):
    first, second = send(owner, battle.public_id), send(owner, battle.public_id, "Something else.")
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json() == second.json()
    assert (first.json()["battle"], first.json()["reason"]) == (battle.public_id, "It is rude.")
    case = ModerationCase.objects.get()
    assert (case.battle, case.state, case.reports.get().visitor) == (battle, "waiting", battle.session.owner_visitor)


def test_published_battle_can_be_reported_by_readers(actor: Actor, battle: Battle):
    share = published(actor, battle)
    for reader in (Client(), Client()):
        assert send(reader, share).status_code == 201
    page = Client()
    assert f"/battles/{share}/report/" in page.get(f"/b/{share}/").text
    confirmation = page.post(f"/battles/{share}/report/", {"reason": "Not mine."}, follow=True)
    assert confirmation.redirect_chain[-1][0] == f"/b/{share}/"
    assert "A moderator will review it" in confirmation.text
    assert ModerationCase.objects.get().reports.count() == 3


def test_invisible_battle_cannot_be_reported(actor: Actor, battle: Battle):
    share = published(actor, battle)
    assert send(Client(), battle.public_id).status_code == 404
    assert Client().post(f"/battles/{battle.public_id}/report/", {"reason": "x"}).status_code == 404
    actions.withdraw(battle=battle)
    assert send(Client(), share).status_code == 404
    assert not Report.objects.exists()


def test_page_has_report_form_and_confirms(owner: Client, battle: Battle):
    assert 'class="reporting"' in owner.get(battle.session.get_absolute_url()).text
    address = f"/battles/{battle.public_id}/report/"
    response = owner.post(address, {"reason": "It is rude."}, headers={"HX-Request": "true"})
    assert (response.status_code, "A moderator will review it" in response.text) == (200, True)
    assert Report.objects.count() == 1


@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}])
def test_invalid_report_is_returned_with_error(owner: Client, battle: Battle, headers):
    for reason, problem in (("  ", "in a few words"), ("x" * 1001, "Use at most 1000 characters")):
        response = owner.post(f"/battles/{battle.public_id}/report/", {"reason": reason}, headers=headers)
        assert (response.status_code, problem in response.text, reason in response.text) == (422, True, True)
        assert send(owner, battle.public_id, reason).json()["fields"].keys() == {"reason"}
    assert not Report.objects.exists()


def test_reports_are_limited_per_person(settings, actor: Actor, owner: Client):
    settings.ARENA_LIMITS = {**settings.ARENA_LIMITS, ("report", "visitor"): "2/hour"}
    left, right = make.model(), make.model()
    battles = [make.answered_battle(left, right, actor=actor) for _ in range(3)]
    assert [send(owner, battle.public_id).status_code for battle in battles] == [201, 201, 429]
    assert send(owner, battles[0].public_id).status_code == 200  # a repeated report does not count


def test_new_report_reopens_dismissed_case(owner: Client, actor: Actor, battle: Battle):
    share = published(actor, battle)
    send(owner, battle.public_id)
    ModerationCase.objects.update(state="dismissed")
    send(owner, battle.public_id)
    assert ModerationCase.objects.get().state == "dismissed"
    send(Client(), share)
    assert ModerationCase.objects.get().state == "waiting"


def test_unanswered_battle_has_no_report_form(owner: Client, battle: Battle):
    Turn.objects.update(state=Turn.State.QUEUED)
    assert 'class="reporting"' not in owner.get(battle.session.get_absolute_url()).text


def test_export_contains_reports(battle: Battle):
    member = make.member()
    actions.report(actor=member, battle=battle, reason="It is rude.")
    client = Client()
    client.force_login(member.user)
    assert [report["reason"] for report in client.get("/api/v1/me/export/").json()["reports"]] == ["It is rude."]
