"""A page that is open asks what has changed in its session since."""

import re

import pytest
from django.test import Client

from accounts.actor import Actor
from battles import actions
from battles.models import Answer, Battle, Turn, Vote
from tests import make
from tests.pages import compact

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def actor() -> Actor:
    return make.member()


@pytest.fixture
def client(actor: Actor) -> Client:
    return make.browser(actor)


@pytest.fixture
def battle(actor: Actor) -> Battle:
    return make.answered_battle(make.model(name="Okapi"), make.model(name="Zebra"), actor=actor)


def versions(html: str) -> list[str]:
    return re.findall(r'data-version="([^"]+)"', html)


def news(client: Client, battle: Battle, known: list[str]) -> str:
    """What is new to a page that shows these versions; empty when it is nothing."""
    answer = client.get(battle.session.get_absolute_url(), {"known": known}, headers=HTMX)
    assert answer.status_code == (200 if answer.content else 204)
    return answer.text


def test_an_open_page_is_told_what_changed_and_only_that(client: Client, actor: Actor, battle: Battle):
    page = battle.session.get_absolute_url()
    known = versions(client.get(page).text)
    assert news(client, battle, known) == ""
    actions.follow_up(actor=actor, battle=battle, prompt="four five six")
    told = news(client, battle, known)
    assert "four five six" in told
    assert "sse-connect" in told
    assert "This session changed in another tab. Both models are answering." in compact(told)
    assert '<textarea id="prompt"' not in told  # in which somebody may be writing
    assert not re.search("Okapi|Zebra", told)

    known = versions(told)
    Answer.objects.filter(turn__index=1, side__position="left").update(state=Answer.State.DONE)
    assert news(client, battle, known) == ""  # its stream tells that
    Turn.objects.update(state=Turn.State.DONE)
    Answer.objects.update(state=Answer.State.DONE)
    known = versions(news(client, battle, known))
    actions.cast_vote(actor=actor, battle=battle, choice=Vote.Choice.TIE)
    assert "Okapi" in news(client, battle, known)
    assert news(client, battle, versions(client.get(page).text)) == ""


def test_a_new_battle_comes_after_the_one_before_it_and_is_what_the_box_asks_next(
    client: Client, actor: Actor, battle: Battle
):
    known = versions(client.get(battle.session.get_absolute_url()).text)
    new = actions.start_battle(actor=actor, session=battle.session, prompt="seven eight")
    told = news(client, battle, known)
    assert f'hx-swap-oob="afterend:#battle-{battle.public_id}"' in told
    assert f'id="battle-{battle.public_id}"' not in told
    assert f'formaction="/battles/{new.public_id}/messages/"' in told


def test_the_news_of_a_session_are_its_owners(battle: Battle):
    assert Client().get(battle.session.get_absolute_url(), headers=HTMX).status_code == 404


def test_news_ask_as_little_for_many_battles_as_for_one(
    client: Client, actor: Actor, battle: Battle, django_assert_max_num_queries
):
    for _ in range(3):
        actions.start_battle(actor=actor, session=battle.session, prompt="seven eight")
    known = versions(client.get(battle.session.get_absolute_url()).text)
    for shown, most in (([], 11), (known, 8)):
        with django_assert_max_num_queries(most):
            news(client, battle, shown)
