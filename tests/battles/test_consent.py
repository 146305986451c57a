"""Whoever lets prompts be published says so, to words that were read; nobody has to."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.dateparse import parse_datetime
from django.utils.formats import date_format
from django.utils.timezone import localtime

from accounts.models import ApiToken, Scope
from battles import actions
from battles.models import Battle
from battles.prompting import consent
from tests import make
from tests.pages import compact

pytestmark = pytest.mark.django_db

BOX = 'name="consent"'
TICKED = ' checked><span dir="auto">'


@pytest.fixture
def client(settings) -> Client:
    settings.ARENA_PUBLISH_PROMPTS = True
    for _ in range(3):
        make.model()
    return Client()


def begin(client: Client, at: str = "/", **said: str) -> Battle:
    assert client.post(at, {"prompt": "hello", **said}).status_code == 303
    return Battle.objects.latest("pk")


def begin_by_api(client: Client, **said: object) -> Battle:
    response = client.post("/api/v1/sessions/", {"prompt": "hello", **said}, content_type="application/json")
    assert response.status_code == 201
    [shown] = response.json()["battles"]
    battle = Battle.objects.get(public_id=shown["id"])
    assert shown["consent"] == bool(battle.consent)
    return battle


def test_nobody_is_asked_where_no_prompts_are_published(client: Client, settings):
    settings.ARENA_PUBLISH_PROMPTS = False
    assert BOX not in client.get("/").text
    assert begin(client, consent=consent.version()).consent == ""
    assert begin(client, consent="on").consent == ""
    assert begin_by_api(client, consent=True).consent == ""


def test_a_battle_needs_no_consent_and_the_box_is_not_ticked(client: Client):
    page = compact(client.get("/").text)
    assert BOX in page
    assert TICKED not in page
    assert begin(client).consent == ""
    assert begin_by_api(client).consent == ""


def test_a_battle_keeps_the_version_of_the_words_that_were_agreed_to(client: Client):
    assert len(consent.version()) == 12
    assert begin(client, consent=consent.version()).consent == consent.version()
    assert begin_by_api(client, consent=True).consent == consent.version()
    assert begin_by_api(client, consent=False).consent == ""


def test_whoever_read_other_words_has_not_agreed_to_these(client: Client, settings):
    read = consent.version()
    settings.ARENA_CONSENT_TEXT = "You may <b>print</b> it."
    assert begin(client, consent=read).consent == ""
    assert b"You may &lt;b&gt;print&lt;/b&gt; it." in client.get("/").content


def test_consent_version_is_the_same_in_each_language(client: Client, settings):
    english = consent.version()
    page = client.get("/", headers={"Accept-Language": "fr"}).content
    assert english.encode() in page
    settings.ARENA_CONSENT_TEXT = "Something else."
    assert consent.version() != english


def test_the_form_remembers_what_was_chosen_last_until_the_words_change(client: Client, settings):
    battle = begin(client, consent=consent.version())
    session = f"/s/{battle.session.public_id}/"
    assert TICKED in compact(client.get("/").text)
    assert TICKED in compact(client.get(session).text)
    assert TICKED not in compact(Client().get("/").text)
    begin(client, f"{session}battles/")
    assert TICKED not in compact(client.get("/").text)
    begin(client, f"{session}battles/", consent=consent.version())
    assert TICKED in compact(client.get(session).text)
    settings.ARENA_CONSENT_TEXT = "Something else."
    assert TICKED not in compact(client.get("/").text)


def test_a_mistake_keeps_the_tick(client: Client):
    page = client.post("/", {"prompt": "", "consent": consent.version()})
    assert (page.status_code, TICKED in compact(page.text)) == (422, True)


def test_only_where_there_is_a_vote_somebody_is_asked(client: Client):
    assert [BOX in client.get(f"/?mode={mode}").text for mode in Battle.Mode.values] == [True, True, False, False]


@pytest.mark.usefixtures("nothing_is_forgotten")
def test_consent_costs_no_question_when_a_battle_begins(client: Client, settings):
    begin_by_api(client)
    asked = []
    for settings.ARENA_PUBLISH_PROMPTS in (False, True):
        with CaptureQueriesContext(connection) as queries:
            client.post("/api/v1/sessions/", {"prompt": "hello", "consent": True}, content_type="application/json")
        asked.append(len(queries))
    assert asked[0] == asked[1]
    assert Battle.objects.latest("pk").consent


# ---- Withdrawing it ----


def withdraw(client: Client, battle: Battle, door: str) -> int:
    api, page = f"/api/v1/battles/{battle.public_id}/consent/", f"/battles/{battle.public_id}/consent/withdraw/"
    status = (client.delete(api) if door == "api" else client.post(page)).status_code
    battle.refresh_from_db()
    return status


@pytest.mark.parametrize(("door", "status"), [("page", 302), ("api", 204)])
def test_consent_is_withdrawn_and_both_stay_on_record(client: Client, door: str, status: int):
    battle = begin(client, consent=consent.version())
    assert withdraw(client, battle, door) == status
    first_withdrawn = battle.consent_withdrawn_at
    assert first_withdrawn is not None
    assert withdraw(client, battle, door) == status
    assert (battle.consent, battle.consent_withdrawn_at) == (consent.version(), first_withdrawn)
    shown = client.get(f"/api/v1/battles/{battle.public_id}/").json()
    assert shown["consent"] is False
    assert parse_datetime(shown["consent_withdrawn_at"]) == first_withdrawn


@pytest.mark.parametrize(("door"), ["page", "api"])
def test_nobody_withdraws_somebody_elses_consent_or_one_that_was_not_given(client: Client, door: str):
    battle, without = begin(client, consent=consent.version()), begin(client)
    assert withdraw(make.browser(make.visitor()), battle, door) == 404
    withdraw(client, without, door)
    assert (battle.has_consent, without.consent_withdrawn_at) == (True, None)


def test_the_page_offers_to_withdraw_what_was_agreed_to_and_says_when_it_was(client: Client, settings):
    battle = begin(client, consent=consent.version())
    settings.ARENA_PUBLISH_PROMPTS = False  # an operator may think again, so its owner still can
    page = battle.session.get_absolute_url()
    assert "Withdraw consent" in client.get(page).text
    answer = client.post(f"/battles/{battle.public_id}/consent/withdraw/", follow=True).text
    battle.refresh_from_db()
    assert "Later files leave out the prompts" in answer
    assert f"You withdrew your consent on {date_format(localtime(battle.consent_withdrawn_at))}" in answer
    assert "Withdraw consent" not in answer
    assert "consent-given" not in client.get(begin(client).session.get_absolute_url()).text


def test_whoever_withdrew_finds_the_box_of_the_next_battle_without_a_tick(client: Client):
    battle = begin(client, consent=consent.version())
    assert TICKED in compact(client.get("/").text)
    withdraw(client, battle, "page")
    assert TICKED not in compact(client.get("/").text)


def test_all_consent_is_withdrawn_at_once_and_nobody_elses(client: Client):
    mine = [begin(client, consent=consent.version()) for _ in range(2)]
    begin(client)
    other = begin(Client(), consent=consent.version())
    assert "prompts and answers of 2 battles may be published" in client.get("/sessions/").text
    answer = client.post("/sessions/consent/withdraw/", follow=True).text
    assert "Consent withdrawn. Later files leave out all of your prompts so far." in answer
    assert "may be published" not in client.get("/sessions/").text
    assert list(Battle.objects.with_consent()) == [other]
    for battle in mine:
        battle.refresh_from_db()
        assert battle.consent_withdrawn_at is not None


def test_a_program_withdraws_all_consent_too_with_the_scope_for_battles(client: Client):
    member = make.member()
    begin(client, consent=consent.version())
    theirs = begin(make.browser(member), consent=consent.version())
    for scope, status in ((Scope.READ, 403), (Scope.BATTLE, 204)):
        _, token = ApiToken.issue(user=member.user, name="t", scopes=[scope])
        answer = Client(headers={"Authorization": f"Bearer {token}"}).delete("/api/v1/sessions/consent/")
        assert answer.status_code == status
    assert theirs not in Battle.objects.with_consent()
    assert Battle.objects.with_consent().count() == 1


def test_all_consent_is_that_of_sessions_that_may_still_be_had_back_too(client: Client):
    battle = begin(client, consent=consent.version())
    actions.discard_session(battle.session)
    client.post("/sessions/consent/withdraw/")
    assert not Battle.objects.with_consent().exists()


def test_a_deleted_session_has_no_consent_any_more(client: Client):
    battle = begin(client, consent=consent.version())
    actions.delete_session(battle.session)
    battle.refresh_from_db()
    assert (battle.consent, battle.has_consent) == (consent.version(), False)
