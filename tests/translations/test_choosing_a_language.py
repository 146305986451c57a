import pytest
from django.test import Client

from arena_site.openapi.views import _generated
from battles.streaming.protocol import TurnToken
from tests import make
from tests.fake_provider import FakeProvider
from tests.pages import compact
from tests.site import Reader

pytestmark = pytest.mark.django_db

ENGLISH, FRENCH = "Which answer is better?", "Comment le classement est établi"


@pytest.fixture
def french() -> Client:
    return Client(headers={"Accept-Language": "fr-CA,fr;q=0.9,en;q=0.5"})


def test_page_uses_first_supported_browser_language(french: Client):
    page = french.get("/leaderboard/")
    assert '<html lang="fr" dir="ltr">' in page.text
    assert FRENCH in page.text
    assert "Accept-Language" in page["Vary"]
    other = Client(headers={"Accept-Language": "pt-BR,pt"}).get("/leaderboard/")
    assert '<html lang="en" dir="ltr">' in other.text


def test_request_without_language_gets_site_language(settings):
    settings.LANGUAGE_CODE = "fr"
    assert FRENCH in Client().get("/leaderboard/").text


def test_language_switch_overrides_browser_and_returns(french: Client):
    assert 'name="language" value="en" lang="en">English<' in compact(french.get("/leaderboard/").text)
    response = french.post("/language/", {"language": "en", "next": "/leaderboard/?search=a"})
    assert response["Location"] == "/leaderboard/?search=a"
    assert '<html lang="en"' in french.get("/leaderboard/").text


def test_language_switch_redirects_to_own_site_only(french: Client):
    response = french.post("/language/", {"language": "en", "next": "https://elsewhere.example/"})
    assert response["Location"] == "/"


def test_language_switch_works_in_private_arena(french: Client, settings):
    settings.ARENA_ACCESS = "private"
    french.post("/language/", {"language": "en", "next": "/accounts/login/"})
    assert '<html lang="en"' in french.get("/accounts/login/").text


def test_api_refusal_detail_is_translated_and_code_is_not(french: Client):
    refused = {
        client: client.post("/api/v1/sessions/", {"prompt": " "}, content_type="application/json").json()
        for client in (Client(), french)
    }
    assert [(body["code"], body["detail"]) for body in refused.values()] == [
        ("invalid", "Write a prompt first."),
        ("invalid", "Écrivez d’abord une question."),
    ]


def test_error_pages_are_translated(french: Client):
    assert '<html lang="fr"' in french.get("/nowhere/").text
    assert "Cette page n’existe pas, ou vous n’y avez pas accès." in french.get("/nowhere/").text


@pytest.mark.slow
def test_api_schema_is_always_english(french: Client):
    _generated.cache_clear()
    assert "left is better" in french.get("/api/v1/schema/").text


def test_method_page_is_translated(french: Client):
    assert "Quels votes comptent" in french.get("/leaderboard/method/").text
    assert "Which votes count" in Client().get("/leaderboard/method/").text


def test_numbers_are_formatted_by_language(french: Client):
    refusal = french.post("/api/v1/sessions/", {"prompt": "a" * 20_001}, content_type="application/json").json()
    assert refusal["detail"] == "Votre question a 20\xa0001 caractères\xa0; la limite est de 20\xa0000.".replace(
        "\xa0;", "\u202f;"
    )


@pytest.mark.django_db(transaction=True)
def test_stream_texts_are_translated(fake_provider: FakeProvider, reader: Reader):
    for _ in range(2):
        make.model("honest", at=fake_provider.base_url)
    reader.client.headers["Accept-Language"] = "fr"
    battle = reader.start_battle()
    events = reader.follow(f"/stream/{TurnToken(battle['id'], 0, 'page').signed()}/")
    states = [data for _, name, data in events if name == "state"]
    assert sum(">complète<" in state for state in states) == 2
