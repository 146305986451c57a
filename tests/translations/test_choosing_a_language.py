"""Everybody reads the arena in a language of theirs."""

import pytest
from django.test import Client

from arena_site.openapi.views import schema_as_json
from battles.streaming.protocol import StreamToken, sign
from tests import make
from tests.fake_provider import FakeProvider
from tests.pages import compact
from tests.site import Reader

pytestmark = pytest.mark.django_db

ENGLISH, FRENCH = "Which answer is better?", "Comment le classement est établi"


@pytest.fixture
def french() -> Client:
    return Client(headers={"Accept-Language": "fr-CA,fr;q=0.9,en;q=0.5"})


def test_a_page_is_in_the_first_language_of_the_browser_that_there_is(french: Client):
    page = french.get("/leaderboard/")
    assert '<html lang="fr" dir="ltr">' in page.text
    assert FRENCH in page.text
    assert "Accept-Language" in page["Vary"]
    other = Client(headers={"Accept-Language": "pt-BR,pt"}).get("/leaderboard/")
    assert '<html lang="en" dir="ltr">' in other.text


def test_whoever_asks_for_no_language_gets_the_sites(settings):
    settings.LANGUAGE_CODE = "fr"
    assert FRENCH in Client().get("/leaderboard/").text


def test_the_switch_wins_over_the_browser_and_leads_back(french: Client):
    assert 'name="language" value="en" lang="en">English<' in compact(french.get("/leaderboard/").text)
    response = french.post("/language/", {"language": "en", "next": "/leaderboard/?search=a"})
    assert response["Location"] == "/leaderboard/?search=a"
    assert '<html lang="en"' in french.get("/leaderboard/").text


def test_the_switch_leads_to_no_other_site(french: Client):
    response = french.post("/language/", {"language": "en", "next": "https://elsewhere.example/"})
    assert response["Location"] == "/"


def test_the_switch_is_open_where_the_arena_is_not(french: Client, settings):
    settings.ARENA_ACCESS = "private"
    french.post("/language/", {"language": "en", "next": "/accounts/login/"})
    assert '<html lang="en"' in french.get("/accounts/login/").text


def test_a_refusal_of_the_api_keeps_its_code_and_says_it_in_the_callers_language(french: Client):
    refused = {
        client: client.post("/api/v1/sessions/", {"prompt": " "}, content_type="application/json").json()
        for client in (Client(), french)
    }
    assert [(body["code"], body["detail"]) for body in refused.values()] == [
        ("invalid", "Write a prompt first."),
        ("invalid", "Écrivez d’abord une question."),
    ]


def test_pages_of_refusals_and_faults_are_in_the_readers_language(french: Client):
    assert '<html lang="fr"' in french.get("/nowhere/").text
    assert "Cette page n’existe pas, ou vous n’y avez pas accès." in french.get("/nowhere/").text


def test_the_schema_of_the_api_is_in_english_whoever_asks_first(french: Client):
    schema_as_json.cache_clear()
    assert "left is better" in french.get("/api/v1/schema/").text


def test_the_method_is_told_in_the_readers_language(french: Client):
    assert "Quels votes comptent" in french.get("/leaderboard/method/").text
    assert "Which votes count" in Client().get("/leaderboard/method/").text


def test_numbers_are_written_as_the_language_writes_them(french: Client):
    said = french.post("/api/v1/sessions/", {"prompt": "a" * 20_001}, content_type="application/json").json()["detail"]
    assert said == "Votre question a 20\xa0001 caractères\xa0; la limite est de 20\xa0000.".replace("\xa0;", "\u202f;")


@pytest.mark.django_db(transaction=True)
def test_the_words_of_a_stream_are_in_its_readers_language(fake_provider: FakeProvider, reader: Reader):
    for _ in range(2):
        make.model("honest", at=fake_provider.base_url)
    reader.client.headers["Accept-Language"] = "fr"
    battle = reader.start_battle()
    events = reader.follow(f"/stream/{sign(StreamToken(battle['id'], 0, 'page'))}/")
    states = [data for _, name, data in events if name == "state"]
    assert sum(">complète<" in state for state in states) == 2
