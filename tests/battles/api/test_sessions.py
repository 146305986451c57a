import json
from datetime import timedelta

import pytest
from django.db.models.functions import Now
from django.test import Client

from accounts.actor import Actor
from battles import actions
from battles.models import Answer, Battle, Session, Share, Vote
from battles.models.sessions import UNDO_WINDOW
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


def path_of(session: Session, rest: str = "") -> str:
    return f"/api/v1/sessions/{session.public_id}/{rest}"


def status_and_code(response) -> tuple[int, str]:
    return response.status_code, response.json()["code"]


# ---- Deletion and restoring ----


def test_deleted_session_is_restored_within_a_minute(client: Client, battle: Battle):
    session = battle.session
    before = client.get(path_of(session)).json()
    assert client.delete(path_of(session)).status_code == 204
    assert (
        status_and_code(client.get(path_of(session)))
        == status_and_code(client.delete(path_of(session)))
        == (404, "not_found")
    )
    assert client.get("/api/v1/sessions/").json()["count"] == 0
    for _ in range(2):  # restoring twice has no further effect
        back = client.post(path_of(session, "restore/"))
        assert (back.status_code, back.json()) == (200, before)
    assert client.get("/api/v1/sessions/").json()["count"] == 1


def test_restore_after_a_minute_is_refused(client: Client, battle: Battle):
    client.delete(path_of(battle.session))
    Session.objects.update(discarded_at=Now() - UNDO_WINDOW - timedelta(seconds=1))
    sweep()
    assert status_and_code(client.post(path_of(battle.session, "restore/"))) == (404, "too_late")
    assert battle.turns.get().prompt == ""


@pytest.mark.parametrize("was_deleted", [False, True])
def test_deletion_for_good_is_immediate_and_final(client: Client, battle: Battle, was_deleted: bool):
    if was_deleted:
        client.delete(path_of(battle.session))
    assert client.delete(path_of(battle.session, "?for_good=true")).status_code == 204
    assert battle.turns.get().prompt == ""
    assert status_and_code(client.post(path_of(battle.session, "restore/"))) == (404, "too_late")


def test_foreign_session_is_neither_deleted_nor_restored(client: Client, battle: Battle):
    stranger = make.browser(make.visitor())
    for rest in ("", "?for_good=true"):
        assert stranger.delete(path_of(battle.session, rest)).status_code == 404
    client.delete(path_of(battle.session))
    assert stranger.post(path_of(battle.session, "restore/")).status_code == 404
    assert stranger.delete(path_of(battle.session, "?for_good=true")).status_code == 404
    battle.session.refresh_from_db()
    assert battle.session.discarded_at is not None


# ---- Files and consent ----


def test_sessions_are_filtered_by_attached_upload(client: Client, actor: Actor, battle: Battle):
    make.model()
    file = keep_upload(actor=actor, content=b"the text of a file", name="notes.txt")
    used = actions.start_session(
        actor=actor, prompt="hello", battle_request=BattleRequest(attachments=(file.public_id,))
    ).session
    sessions = client.get(f"/api/v1/sessions/?upload={file.public_id}").json()["results"]
    assert [(session["id"], session["battle_count"]) for session in sessions] == [(used.public_id, 1)]
    for nothing in ("nothing", "%20"):
        assert client.get(f"/api/v1/sessions/?upload={nothing}").json()["count"] == 0
    assert make.browser(make.visitor()).get(f"/api/v1/sessions/?upload={file.public_id}").json()["count"] == 0


def test_consent_text_equals_the_pages_text(client: Client, battle: Battle, settings):
    address = "/api/v1/sessions/consent/"
    assert client.get(address).json() == {"text": "", "version": "", "battles": 0}
    settings.ARENA_PUBLISH_PROMPTS = True
    Battle.objects.update(consent="first")
    payload = client.get(address).json()
    assert payload["text"] in client.get("/").text
    assert (bool(payload["version"]), payload["battles"]) == (True, 1)
    assert client.get(address, headers={"Accept-Language": "fr"}).json()["text"] != payload["text"]
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


def test_share_payload_is_public(actor: Actor, battle: Battle):
    payload = Client().get(published(actor, battle)).json()
    share = Share.objects.get()
    assert (payload["id"], payload["url"], payload["mode"], payload["state"]) == (
        share.public_id, share.get_absolute_url(), "blind", "voted",
    )  # fmt: skip
    assert (payload["title"], payload["verdict"]) == ("one two three", "Ada was found better than Bob.")
    assert [side["model"]["id"] for side in payload["sides"]] == ["ada", "bob"]
    assert payload["vote"] == {"choice": "left"}
    assert [answer["text"] for answer in payload["turns"][0]["answers"]] == ["Rayleigh", "Rayleigh"]


def test_share_payload_has_no_private_data(actor: Actor, battle: Battle):
    address = published(actor, battle)
    texts = "".join(Client().get(address + more).text for more in ("", "export/", "export/?as=markdown"))
    ids = [battle.public_id, battle.session.public_id, *Answer.objects.values_list("public_id", flat=True)]
    for secret in ("secret", "clear", "/stream/", *ids):
        assert secret not in texts


def test_share_export_equals_the_pages_export(actor: Actor, battle: Battle):
    address = published(actor, battle)
    page = Share.objects.get().get_absolute_url()
    for format_name in ("json", "markdown"):
        query = f"export/?as={format_name}"
        assert Client().get(address + query).content == Client().get(page + query).content
    assert json.loads(Client().get(f"{address}export/").text)["battles"][0]["vote"] == "left"
    assert status_and_code(Client().get(f"{address}export/?as=pdf")) == (400, "invalid")


def test_withdrawn_deleted_or_hidden_share_returns_404(client: Client, actor: Actor, battle: Battle):
    address = published(actor, battle)
    assert "no-store" in Client().get(address)["Cache-Control"]
    client.delete(path_of(battle.session))
    assert Client().get(address).status_code == 404
    client.post(path_of(battle.session, "restore/"))
    Battle.objects.update(hidden_at=Now())
    assert Client().get(address).status_code == Client().get(f"{address}export/").status_code == 404
    Battle.objects.update(hidden_at=None)
    assert Client().get(address).status_code == 200
    client.delete(f"/api/v1/battles/{battle.public_id}/publish/")
    assert Client().get(address).status_code == 404


def test_share_in_private_arena_needs_sign_in(actor: Actor, battle: Battle, settings):
    address = published(actor, battle)
    settings.ARENA_ACCESS = "private"
    assert status_and_code(Client().get(address)) == (401, "not_authenticated")
    assert make.browser(make.member()).get(address).status_code == 200
