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


def updates(client: Client, battle: Battle, known: list[str]) -> str:
    """Return the update for a page with these versions; "" if nothing changed."""
    answer = client.get(battle.session.get_absolute_url(), {"known": known}, headers=HTMX)
    assert answer.status_code == (200 if answer.content else 204)
    return answer.text


def test_open_page_receives_changed_battles_only(client: Client, actor: Actor, battle: Battle):
    page = battle.session.get_absolute_url()
    known = versions(client.get(page).text)
    assert updates(client, battle, known) == ""
    actions.follow_up(actor=actor, battle=battle, prompt="four five six")
    html = updates(client, battle, known)
    assert "four five six" in html
    assert "sse-connect" in html
    assert "This session changed in another tab. Both models are answering." in compact(html)
    assert '<textarea id="prompt"' not in html  # an update must not replace the text being typed
    assert not re.search("Okapi|Zebra", html)

    known = versions(html)
    Answer.objects.filter(turn__index=1, side__position="left").update(state=Answer.State.DONE)
    assert updates(client, battle, known) == ""  # the stream reports it
    Turn.objects.update(state=Turn.State.DONE)
    Answer.objects.update(state=Answer.State.DONE)
    known = versions(updates(client, battle, known))
    actions.cast_vote(actor=actor, battle=battle, choice=Vote.Choice.TIE)
    assert "Okapi" in updates(client, battle, known)
    assert updates(client, battle, versions(client.get(page).text)) == ""


def test_new_battle_is_inserted_after_its_predecessor(client: Client, actor: Actor, battle: Battle):
    known = versions(client.get(battle.session.get_absolute_url()).text)
    new = actions.start_battle(actor=actor, session=battle.session, prompt="seven eight")
    html = updates(client, battle, known)
    assert f'hx-swap-oob="afterend:#battle-{battle.public_id}"' in html
    assert f'id="battle-{battle.public_id}"' not in html
    assert f'formaction="/battles/{new.public_id}/messages/"' in html


def test_updates_of_foreign_session_return_404(battle: Battle):
    assert Client().get(battle.session.get_absolute_url(), headers=HTMX).status_code == 404


def test_update_query_count_is_independent_of_battles(
    client: Client, actor: Actor, battle: Battle, django_assert_max_num_queries
):
    for _ in range(3):
        actions.start_battle(actor=actor, session=battle.session, prompt="seven eight")
    known = versions(client.get(battle.session.get_absolute_url()).text)
    for shown, max_queries in (([], 11), (known, 8)):
        with django_assert_max_num_queries(max_queries):
            updates(client, battle, shown)
