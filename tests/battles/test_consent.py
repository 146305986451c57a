"""Whoever lets prompts be published says so, to words that were read; nobody has to."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from battles import actions, consent
from battles.models import Battle
from tests import make

pytestmark = pytest.mark.django_db

BOX = b'name="consent"'
TICKED = b' checked> <span dir="auto">'


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
    assert BOX not in client.get("/").content
    assert begin(client, consent=consent.version()).consent == ""
    assert begin(client, consent="on").consent == ""
    assert begin_by_api(client, consent=True).consent == ""


def test_a_battle_needs_no_consent_and_the_box_is_not_ticked(client: Client):
    page = client.get("/").content
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


def test_words_have_one_version_in_every_language_and_a_name_if_they_are_given_one(client: Client, settings):
    english = consent.version()
    page = client.get("/", headers={"Accept-Language": "fr"}).content
    assert english.encode() in page
    settings.ARENA_CONSENT_TEXT = "Something else."
    assert consent.version() != english
    settings.ARENA_CONSENT_VERSION = "2026-11"
    assert begin(client, consent="2026-11").consent == "2026-11"


def test_the_form_remembers_what_was_chosen_last_until_the_words_change(client: Client, settings):
    battle = begin(client, consent=consent.version())
    session = f"/s/{battle.session.public_id}/"
    assert TICKED in client.get("/").content
    assert TICKED in client.get(session).content
    assert TICKED not in Client().get("/").content
    begin(client, f"{session}battles/")
    assert TICKED not in client.get("/").content
    begin(client, f"{session}battles/", consent=consent.version())
    assert TICKED in client.get(session).content
    settings.ARENA_CONSENT_TEXT = "Something else."
    assert TICKED not in client.get("/").content


def test_a_mistake_keeps_the_tick(client: Client):
    page = client.post("/", {"prompt": "", "consent": consent.version()})
    assert (page.status_code, TICKED in page.content) == (422, True)


def test_only_where_there_is_a_vote_somebody_is_asked(client: Client):
    assert [BOX in client.get(f"/?mode={mode}").content for mode in Battle.Mode.values] == [True, True, False, False]


def test_consent_costs_no_question_when_a_battle_begins(client: Client, settings):
    begin_by_api(client)
    asked = []
    for settings.ARENA_PUBLISH_PROMPTS in (False, True):
        with CaptureQueriesContext(connection) as queries:
            client.post("/api/v1/sessions/", {"prompt": "hello", "consent": True}, content_type="application/json")
        asked.append(len(queries))
    assert asked[0] == asked[1]
    assert Battle.objects.latest("pk").consent


def test_a_deleted_session_takes_its_consent_along(client: Client):
    battle = begin(client, consent=consent.version())
    actions.delete_session(battle.session)
    battle.refresh_from_db()
    assert battle.consent == ""
