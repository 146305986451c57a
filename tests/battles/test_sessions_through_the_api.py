"""What programs do with sessions and published battles, as people do on the pages."""

import json
from datetime import timedelta

import pytest
from django.db.models.functions import Now
from django.test import Client

from accounts.actor import Actor
from battles import actions
from battles.models import Answer, Battle, Session, Share, Vote
from battles.models.sessions import SECOND_THOUGHTS
from battles.prompting.lineup import BattleRequest
from battles.sweep import sweep
from common.text.markdown import render
from tests import make
from uploads.actions import keep_upload

pytestmark = pytest.mark.django_db


@pytest.fixture
def actor() -> Actor:
    return make.visitor()


@pytest.fixture
def client(actor: Actor) -> Client:
    return make.browser(actor)


@pytest.fixture
def battle(actor: Actor) -> Battle:
    left, right = make.model(slug="ada", name="Ada"), make.model(slug="bob", name="Bob")
    return make.answered_battle(left, right, actor=actor)


def at(session: Session, rest: str = "") -> str:
    return f"/api/v1/sessions/{session.public_id}/{rest}"


def code(response) -> tuple[int, str]:
    return response.status_code, response.json()["code"]


# ---- Deleting, and having it back ----


def test_a_deleted_session_comes_back_whole_within_a_minute(client: Client, battle: Battle):
    session = battle.session
    before = client.get(at(session)).json()
    assert client.delete(at(session)).status_code == 204
    assert code(client.get(at(session))) == code(client.delete(at(session))) == (404, "not_found")
    assert client.get("/api/v1/sessions/").json()["count"] == 0
    for _ in range(2):  # asking twice is asking once
        back = client.post(at(session, "restore/"))
        assert (back.status_code, back.json()) == (200, before)
    assert client.get("/api/v1/sessions/").json()["count"] == 1


def test_after_a_minute_it_is_too_late(client: Client, battle: Battle):
    client.delete(at(battle.session))
    Session.objects.update(discarded_at=Now() - SECOND_THOUGHTS - timedelta(seconds=1))
    sweep()
    assert code(client.post(at(battle.session, "restore/"))) == (404, "too_late")
    assert battle.turns.get().prompt == ""


@pytest.mark.parametrize("was_deleted", [False, True])
def test_for_good_is_at_once_and_beyond_recall(client: Client, battle: Battle, was_deleted: bool):
    if was_deleted:
        client.delete(at(battle.session))
    assert client.delete(at(battle.session, "?for_good=true")).status_code == 204
    assert battle.turns.get().prompt == ""
    assert code(client.post(at(battle.session, "restore/"))) == (404, "too_late")


def test_what_is_somebody_elses_is_neither_deleted_nor_brought_back(client: Client, battle: Battle):
    stranger = make.browser(make.visitor())
    for rest in ("", "?for_good=true"):
        assert stranger.delete(at(battle.session, rest)).status_code == 404
    client.delete(at(battle.session))
    assert stranger.post(at(battle.session, "restore/")).status_code == 404
    assert stranger.delete(at(battle.session, "?for_good=true")).status_code == 404
    battle.session.refresh_from_db()
    assert battle.session.discarded_at is not None


# ---- Files and consent ----


def test_sessions_are_found_by_the_file_that_was_used_in_them(client: Client, actor: Actor, battle: Battle):
    make.model()
    file = keep_upload(actor=actor, content=b"the text of a file", name="notes.txt")
    used = actions.start_session(
        actor=actor, prompt="hello", battle_request=BattleRequest(attachments=(file.public_id,))
    ).session
    found = client.get(f"/api/v1/sessions/?upload={file.public_id}").json()["results"]
    assert [(session["id"], session["battle_count"]) for session in found] == [(used.public_id, 1)]
    for nothing in ("nothing", "%20"):
        assert client.get(f"/api/v1/sessions/?upload={nothing}").json()["count"] == 0
    assert make.browser(make.visitor()).get(f"/api/v1/sessions/?upload={file.public_id}").json()["count"] == 0


def test_the_words_of_consent_are_those_that_stand_on_the_page(client: Client, battle: Battle, settings):
    address = "/api/v1/sessions/consent/"
    assert client.get(address).json() == {"text": "", "version": "", "battles": 0}
    settings.ARENA_PUBLISH_PROMPTS = True
    Battle.objects.update(consent="first")
    told = client.get(address).json()
    assert told["text"] in client.get("/").text
    assert (bool(told["version"]), told["battles"]) == (True, 1)
    assert client.get(address, headers={"Accept-Language": "fr"}).json()["text"] != told["text"]
    client.delete(address)
    assert client.get(address).json()["battles"] == 0


# ---- Published battles ----


def published(actor: Actor, battle: Battle) -> str:
    Answer.objects.update(text="Rayleigh", html=render("Rayleigh"))
    actions.cast_vote(actor=actor, battle=battle, choice=Vote.Choice.LEFT)
    actions.give_feedback(battle=battle, tags={"left": ["clear"]}, comment="my secret comment")
    actions.update_session(battle.session, title="my secret title")
    share = actions.publish(battle=battle)
    return f"/api/v1/shares/{share.public_id}/"


def test_anybody_reads_a_published_battle(actor: Actor, battle: Battle):
    told = Client().get(published(actor, battle)).json()
    share = Share.objects.get()
    assert (told["id"], told["url"], told["mode"], told["state"]) == (
        share.public_id, share.get_absolute_url(), "blind", "voted",
    )  # fmt: skip
    assert (told["title"], told["verdict"]) == ("one two three", "Ada was found better than Bob.")
    assert [side["model"]["id"] for side in told["sides"]] == ["ada", "bob"]
    assert told["vote"] == {"choice": "left"}
    assert [answer["text"] for answer in told["turns"][0]["answers"]] == ["Rayleigh", "Rayleigh"]


def test_nothing_of_its_owner_is_told(actor: Actor, battle: Battle):
    address = published(actor, battle)
    everything = "".join(Client().get(address + more).text for more in ("", "export/", "export/?as=markdown"))
    ids = [battle.public_id, battle.session.public_id, *Answer.objects.values_list("public_id", flat=True)]
    for secret in ("secret", "clear", "/stream/", *ids):
        assert secret not in everything


def test_a_published_battle_is_exported_as_its_page_exports_it(actor: Actor, battle: Battle):
    address = published(actor, battle)
    page = Share.objects.get().get_absolute_url()
    for wanted in ("json", "markdown"):
        asked = f"export/?as={wanted}"
        assert Client().get(address + asked).content == Client().get(page + asked).content
    assert json.loads(Client().get(f"{address}export/").text)["battles"][0]["vote"] == "left"
    assert code(Client().get(f"{address}export/?as=pdf")) == (400, "invalid")


def test_what_is_withdrawn_deleted_or_hidden_is_gone_at_once(client: Client, actor: Actor, battle: Battle):
    address = published(actor, battle)
    assert "no-store" in Client().get(address)["Cache-Control"]
    client.delete(at(battle.session))
    assert Client().get(address).status_code == 404
    client.post(at(battle.session, "restore/"))
    Battle.objects.update(hidden_at=Now())
    assert Client().get(address).status_code == Client().get(f"{address}export/").status_code == 404
    Battle.objects.update(hidden_at=None)
    assert Client().get(address).status_code == 200
    client.delete(f"/api/v1/battles/{battle.public_id}/publish/")
    assert Client().get(address).status_code == 404


def test_in_a_private_arena_published_battles_are_for_members_programs_too(actor: Actor, battle: Battle, settings):
    address = published(actor, battle)
    settings.ARENA_ACCESS = "private"
    assert code(Client().get(address)) == (401, "not_authenticated")
    assert make.browser(make.member()).get(address).status_code == 200
