import pytest
from django.test import Client

from battles import actions
from battles.models import Battle, Vote
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def actor():
    return make.member()


@pytest.fixture
def reader(actor) -> Client:
    client = Client()
    client.force_login(actor.user)
    return client


@pytest.fixture
def battle(actor) -> Battle:
    battle = make.answered_battle(make.model(), make.model(), actor=actor)
    return actions.cast_vote(actor=actor, battle=battle, choice=Vote.Choice.LEFT).battle


def test_feedback_is_stored_shown_and_replaced(reader: Client, battle: Battle):
    fields = {"left": ["clear", "accurate"], "right": ["wrong"], "comment": "<b>Because</b>"}
    answer = reader.post(f"/battles/{battle.public_id}/feedback/", fields)
    assert answer.headers["Location"] == battle.get_absolute_url()
    vote = Vote.objects.get()
    assert (vote.tags, vote.comment) == ({"left": ["accurate", "clear"], "right": ["wrong"]}, "<b>Because</b>")
    page = reader.get(battle.session.get_absolute_url()).content.decode()
    assert page.count(" checked>") == 3
    assert "&lt;b&gt;Because&lt;/b&gt;" in page
    reader.post(f"/battles/{battle.public_id}/feedback/", {"comment": ""})  # replaces the earlier feedback
    vote.refresh_from_db()
    assert (vote.tags, vote.comment) == ({}, "")


@pytest.mark.parametrize("fields", [{"left": "silly"}, {"comment": "x" * 2001}, {"comment": "\x00"}])
def test_invalid_feedback_returns_422_with_errors(reader: Client, battle: Battle, fields: dict):
    answer = reader.post(f"/battles/{battle.public_id}/feedback/", fields, headers={"HX-Request": "true"})
    assert answer.status_code == 422
    assert "error" in answer.content.decode()
    assert Vote.objects.get().tags == {}


def test_feedback_before_the_vote_is_refused(reader: Client, actor):
    battle = make.answered_battle(make.model(), make.model(), actor=actor)
    assert "tag-row" not in reader.get(battle.session.get_absolute_url()).content.decode()
    assert reader.post(f"/battles/{battle.public_id}/feedback/", {"left": "clear"}).status_code == 409
