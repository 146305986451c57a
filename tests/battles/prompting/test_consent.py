import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.dateparse import parse_datetime
from django.utils.formats import date_format
from django.utils.timezone import localtime

from accounts.models import Scope
from battles import actions
from battles.models import Battle
from battles.prompting import consent
from tests import make
from tests.pages import compact

pytestmark = pytest.mark.django_db

BOX = 'name="consent"'
CHECKED = ' checked><span dir="auto">'


@pytest.fixture
def client(settings) -> Client:
    settings.ARENA_PUBLISH_PROMPTS = True
    for _ in range(3):
        make.model()
    return Client()


def start(client: Client, path: str = "/", **fields: str) -> Battle:
    assert client.post(path, {"prompt": "hello", **fields}).status_code == 303
    return Battle.objects.latest("pk")


def start_by_api(client: Client, **fields: object) -> Battle:
    response = client.post("/api/v1/sessions/", {"prompt": "hello", **fields}, content_type="application/json")
    assert response.status_code == 201
    [shown] = response.json()["battles"]
    battle = Battle.objects.get(public_id=shown["id"])
    assert shown["consent"] == bool(battle.consent)
    return battle


def test_consent_is_ignored_if_no_prompts_are_published(client: Client, settings):
    settings.ARENA_PUBLISH_PROMPTS = False
    assert BOX not in client.get("/").text
    assert start(client, consent=consent.version()).consent == ""
    assert start(client, consent="on").consent == ""
    assert start_by_api(client, consent=True).consent == ""


def test_consent_is_optional_and_unchecked_by_default(client: Client):
    page = compact(client.get("/").text)
    assert BOX in page
    assert CHECKED not in page
    assert start(client).consent == ""
    assert start_by_api(client).consent == ""


def test_battle_stores_the_consent_version(client: Client):
    assert len(consent.version()) == 12
    assert start(client, consent=consent.version()).consent == consent.version()
    assert start_by_api(client, consent=True).consent == consent.version()
    assert start_by_api(client, consent=False).consent == ""


def test_consent_to_an_older_text_is_not_stored(client: Client, settings):
    older_version = consent.version()
    settings.ARENA_CONSENT_TEXT = "You may <b>print</b> it."
    assert start(client, consent=older_version).consent == ""
    assert b"You may &lt;b&gt;print&lt;/b&gt; it." in client.get("/").content


def test_consent_version_is_the_same_in_each_language(client: Client, settings):
    english = consent.version()
    page = client.get("/", headers={"Accept-Language": "fr"}).content
    assert english.encode() in page
    settings.ARENA_CONSENT_TEXT = "Something else."
    assert consent.version() != english


@pytest.mark.slow
def test_form_keeps_last_choice_until_text_changes(client: Client, settings):
    battle = start(client, consent=consent.version())
    session = f"/s/{battle.session.public_id}/"
    assert CHECKED in compact(client.get("/").text)
    assert CHECKED in compact(client.get(session).text)
    assert CHECKED not in compact(Client().get("/").text)
    start(client, f"{session}battles/")
    assert CHECKED not in compact(client.get("/").text)
    start(client, f"{session}battles/", consent=consent.version())
    assert CHECKED in compact(client.get(session).text)
    settings.ARENA_CONSENT_TEXT = "Something else."
    assert CHECKED not in compact(client.get("/").text)


def test_invalid_form_keeps_consent_checked(client: Client):
    page = client.post("/", {"prompt": "", "consent": consent.version()})
    assert (page.status_code, CHECKED in compact(page.text)) == (422, True)


def test_consent_is_offered_in_voted_modes_only(client: Client):
    modes = ("blind", "side_by_side", "compare", "direct")
    assert [BOX in client.get(f"/?mode={mode}").text for mode in modes] == [True, True, False, False]


@pytest.mark.usefixtures("nothing_is_forgotten")
def test_consent_adds_no_query_to_a_new_battle(client: Client, settings):
    start_by_api(client)
    query_counts = []
    for settings.ARENA_PUBLISH_PROMPTS in (False, True):
        with CaptureQueriesContext(connection) as queries:
            client.post("/api/v1/sessions/", {"prompt": "hello", "consent": True}, content_type="application/json")
        query_counts.append(len(queries))
    assert query_counts[0] == query_counts[1]
    assert Battle.objects.latest("pk").consent


# ---- Withdrawal ----


def withdraw(client: Client, battle: Battle, via: str) -> int:
    api, page = f"/api/v1/battles/{battle.public_id}/consent/", f"/battles/{battle.public_id}/consent/withdraw/"
    status = (client.delete(api) if via == "api" else client.post(page)).status_code
    battle.refresh_from_db()
    return status


@pytest.mark.parametrize(("via", "status"), [("page", 302), ("api", 204)])
def test_withdrawal_keeps_version_and_first_time(client: Client, via: str, status: int):
    battle = start(client, consent=consent.version())
    assert withdraw(client, battle, via) == status
    first_withdrawn = battle.consent_withdrawn_at
    assert first_withdrawn is not None
    assert withdraw(client, battle, via) == status
    assert (battle.consent, battle.consent_withdrawn_at) == (consent.version(), first_withdrawn)
    shown = client.get(f"/api/v1/battles/{battle.public_id}/").json()
    assert shown["consent"] is False
    assert parse_datetime(shown["consent_withdrawn_at"]) == first_withdrawn


@pytest.mark.parametrize("via", ["page", "api"])
def test_foreign_or_missing_consent_cannot_be_withdrawn(client: Client, via: str):
    battle, without = start(client, consent=consent.version()), start(client)
    assert withdraw(make.browser(make.visitor()), battle, via) == 404
    withdraw(client, without, via)
    assert (battle.has_consent, without.consent_withdrawn_at) == (True, None)


def test_page_offers_withdrawal_and_shows_its_date(client: Client, settings):
    battle = start(client, consent=consent.version())
    settings.ARENA_PUBLISH_PROMPTS = False  # consent given before can still be withdrawn
    page = battle.session.get_absolute_url()
    assert "Withdraw consent" in client.get(page).text
    answer = client.post(f"/battles/{battle.public_id}/consent/withdraw/", follow=True).text
    battle.refresh_from_db()
    assert "Later files leave out the prompts" in answer
    assert f"You withdrew your consent on {date_format(localtime(battle.consent_withdrawn_at))}" in answer
    assert "Withdraw consent" not in answer
    assert "consent-given" not in client.get(start(client).session.get_absolute_url()).text


def test_withdrawal_unchecks_consent_of_next_battle(client: Client):
    battle = start(client, consent=consent.version())
    assert CHECKED in compact(client.get("/").text)
    withdraw(client, battle, "page")
    assert CHECKED not in compact(client.get("/").text)


def test_withdrawing_all_consent_affects_own_battles_only(client: Client):
    own = [start(client, consent=consent.version()) for _ in range(2)]
    start(client)
    other = start(Client(), consent=consent.version())
    assert "prompts and answers of 2 battles may be published" in client.get("/sessions/").text
    answer = client.post("/sessions/consent/withdraw/", follow=True).text
    assert "Consent withdrawn. Later files leave out all of your prompts so far." in answer
    assert "may be published" not in client.get("/sessions/").text
    assert list(Battle.objects.with_consent()) == [other]
    for battle in own:
        battle.refresh_from_db()
        assert battle.consent_withdrawn_at is not None


def test_api_withdrawal_of_all_consent_needs_battle_scope(client: Client):
    member = make.member()
    start(client, consent=consent.version())
    members = start(make.browser(member), consent=consent.version())
    for scope, status in ((Scope.READ, 403), (Scope.BATTLE, 204)):
        answer = make.api(member.user, scopes=[scope]).delete("/api/v1/sessions/consent/")
        assert answer.status_code == status
    assert members not in Battle.objects.with_consent()
    assert Battle.objects.with_consent().count() == 1


def test_withdrawing_all_consent_covers_discarded_sessions(client: Client):
    battle = start(client, consent=consent.version())
    actions.discard_session(battle.session)
    client.post("/sessions/consent/withdraw/")
    assert not Battle.objects.with_consent().exists()


def test_deleting_a_session_withdraws_its_consent(client: Client):
    battle = start(client, consent=consent.version())
    actions.delete_session(battle.session)
    battle.refresh_from_db()
    assert (battle.consent, battle.has_consent) == (consent.version(), False)
