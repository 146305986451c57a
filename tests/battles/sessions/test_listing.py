import html
import re
from datetime import timedelta

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.test import Client
from django.utils import timezone

from accounts.actor import Actor
from battles import actions
from battles.models import Battle, Session, Vote
from battles.models.sessions import UNDO_WINDOW
from battles.prompting.lineup import BattleRequest
from battles.sessions.listing import PER_PAGE, list_sessions
from battles.sweep import sweep
from tests import make
from tests.pages import compact
from uploads.actions import keep_upload

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def actor() -> Actor:
    return make.member()


@pytest.fixture
def client(actor: Actor) -> Client:
    return make.browser(actor)


def titled(actor: Actor, title: str, *, days_ago: float = 0) -> Session:
    moment = timezone.now() - timedelta(days=days_ago)
    return Session.objects.create(owner_user=actor.user, title=title, last_active_at=moment)


def titles_in(page: str) -> list[str]:
    return re.findall(r'class="session-link".*?<span dir="auto">(.*?)</span>', page, re.DOTALL)


def voted(battle: Battle) -> Battle:
    actions.cast_vote(actor=make.visitor(), battle=battle, choice=Vote.Choice.LEFT)
    return battle


# ---- By day ----


def test_sessions_are_listed_by_day_week_and_month(actor: Actor):
    for days_ago, title in ((0, "a"), (0.0001, "b"), (1, "c"), (3, "d"), (6.5, "e"), (70, "f"), (71, "g"), (400, "h")):
        titled(actor, title, days_ago=days_ago)
    days = list_sessions(actor, Session.objects.owned_by(actor)).days
    assert [session.title for day in days for session in day.sessions] == list("abcdefgh")
    assert [day.title for day in days][1:3] == ["Yesterday", "Previous 7 days"]
    assert len(days[-1].sessions) == 1
    assert days[-1].title == (timezone.localdate() - timedelta(days=400)).strftime("%B %Y")


def test_next_page_continues_without_repeated_heading(client: Client, actor: Actor):
    at = timezone.now() - timedelta(days=1)
    many = 2 * PER_PAGE + 5
    Session.objects.bulk_create(
        # Three share each moment, so that a cursor of the time alone would skip some.
        Session(owner_user=actor.user, title=f"t{number}", last_active_at=at - timedelta(microseconds=number // 3))
        for number in range(many)
    )
    page, seen, headings = client.get("/sessions/"), [], []
    for _ in range(3):
        seen += titles_in(page.text)
        headings.append(page.text.count("<h2>"))
        following = re.search(r'class="earlier".*?hx-get="([^"]+)"', page.text, re.DOTALL)
        if following:
            page = client.get(following[1].replace("&amp;", "&"), headers=HTMX)
    assert following is None
    assert sorted(seen) == sorted(f"t{number}" for number in range(many))
    assert headings == [1, 0, 0]


def test_next_page_of_the_archive_lists_archived_sessions(client: Client, actor: Actor):
    for number in range(PER_PAGE + 1):
        titled(actor, f"archived {number}", days_ago=number)
    Session.objects.update(archived=True)
    titled(actor, "current", days_ago=100)
    page = client.get("/sessions/?archived=1").text
    following = re.findall(r'(?:hx-get|href)="([^"]+after=[^"]+)"', page)
    assert len(following) == 2
    for link in following:
        assert titles_in(client.get(html.unescape(link)).text) == [f"archived {PER_PAGE}"]


@pytest.mark.parametrize(
    "after",
    [
        "nonsense",
        "2026-01-01",
        "2026-01-01T00:00:00",
        "~",
        "9999-99-99T00:00:00+00:00~x",
        "0001-01-01T00:00:00+23:59~x",
        "9999-12-31T23:59:00-23:59~x",
    ],
)
def test_invalid_cursor_returns_the_first_page(client: Client, actor: Actor, after: str):
    titled(actor, "mine")
    assert titles_in(client.get("/sessions/", {"after": after}).text) == ["mine"]


@pytest.mark.slow
def test_list_query_count_is_independent_of_sessions(client: Client, actor: Actor, django_assert_max_num_queries):
    Session.objects.bulk_create(Session(owner_user=actor.user, title=f"t{number}") for number in range(1_000))
    make.answered_battle(make.model(), make.model(), actor=actor)
    for address in ("/sessions/", "/sessions/?search=t9", "/leaderboard/method/"):
        with django_assert_max_num_queries(4):  # session and user (2), and the list
            assert len(titles_in(client.get(address).text)) == PER_PAGE


@pytest.mark.slow
def test_list_of_many_sessions_reads_only_their_battles(actor: Actor):
    sessions = Session.objects.bulk_create([Session(owner_user=actor.user) for _ in range(1000)])
    Battle.objects.bulk_create([Battle(session=session, propensity=1) for session in sessions])
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE battles_session, battles_battle")
    page = Session.objects.owned_by(actor).with_revealed_names().latest_first()[:PER_PAGE]
    assert "hashed" not in page.explain(verbose=True)  # of the battles of all sessions


def test_htmx_search_returns_rows_only(client: Client, actor: Actor):
    titled(actor, "about zebras")
    titled(actor, "about okapis")
    page = client.get("/sessions/?search=zebra", headers=HTMX).text
    assert titles_in(page) == ["about zebras"]
    assert "<html" not in page
    assert "Nothing matches" in client.get("/sessions/?search=gnu", headers=HTMX).text


# ---- Names ----


def test_list_shows_revealed_names_only(client: Client, actor: Actor):
    okapi, zebra, gazelle = (make.model(name=name) for name in ("Okapi", "Zebra", "Gazelle"))
    waiting = make.answered_battle(okapi, gazelle, actor=actor)
    page = client.get("/sessions/").text
    assert "names hidden" in page
    assert not re.search("Okapi|Gazelle", page)
    second = make.answered_battle(okapi, zebra, actor=actor)
    Battle.objects.filter(pk=second.pk).update(session=waiting.session)
    voted(second)
    page = client.get("/sessions/").text
    assert "<bdi>Okapi</bdi>·<bdi>Zebra</bdi>· names hidden" in compact(page)
    assert "Gazelle" not in page
    voted(waiting)
    page = client.get("/sessions/").text
    assert "<bdi>Gazelle</bdi>·<bdi>Okapi</bdi>·<bdi>Zebra</bdi>" in compact(page)
    assert "names hidden" not in page


def test_open_sessions_row_shows_names_after_the_vote(client: Client, actor):
    battle = make.answered_battle(make.model(name="Okapi"), make.model(name="Gazelle"), actor=actor)
    page = battle.session.get_absolute_url()
    trigger = f'hx-get="{page}row/?revealed=1" hx-trigger="names-revealed from:body"'
    assert trigger in client.get(page).text
    assert trigger not in client.get("/").text
    response = client.post(f"/battles/{battle.public_id}/vote/", {"choice": "tie"}, headers=HTMX)
    assert "names-revealed" in response["HX-Trigger"]
    on_it = {**HTMX, "HX-Current-URL": f"http://testserver{page}"}
    row = client.get(f"{page}row/?revealed=1", headers=on_it).text
    assert "<bdi>Gazelle</bdi>·<bdi>Okapi</bdi>" in compact(row)
    assert 'aria-current="page"' in row
    assert not re.search("names-revealed|autofocus|session-title", row)


# ---- In place ----


def test_row_is_renamed_in_place(client: Client, actor: Actor):
    session = titled(actor, "before")
    path = f"/s/{session.public_id}"
    assert 'value="before"' in client.get(f"{path}/row/?edit=1", headers=HTMX).text
    renamed = client.post(f"{path}/rename/", {"title": "after <b>"}, headers=HTMX)
    assert (renamed.status_code, titles_in(renamed.text)) == (200, ["after &lt;b&gt;"])
    refused = client.post(f"{path}/rename/", {"title": "x" * 121}, headers=HTMX)
    assert refused.status_code == 422
    assert f'value="{"x" * 121}"' in refused.text
    assert client.get(f"{path}/row/").status_code == 302


def test_archived_row_disappears_and_undo_restores_it(client: Client, actor: Actor):
    session = titled(actor, "put away")
    path = f"/s/{session.public_id}/archive/"
    notice = client.post(path, {"archived": "1"}, headers=HTMX).text
    assert "Undo" in notice
    assert titles_in(client.get("/sessions/").text) == []
    back = client.post(path, headers=HTMX)
    assert "sessions-changed" in back["HX-Trigger"]
    assert titles_in(client.get("/sessions/").text) == ["put away"]


# ---- Discarding ----


def discard(client: Client, session: Session, **headers: str) -> str:
    return client.post(f"/s/{session.public_id}/discard/", headers={**HTMX, **headers}).text


def test_discarded_session_is_hidden_and_restored_whole(client: Client, actor: Actor):
    battle = voted(make.answered_battle(make.model(), make.model(), actor=actor))
    actions.publish(battle=battle)
    session, share = battle.session, battle.share.get_absolute_url()
    addresses = [
        session.get_absolute_url(), share, f"/battles/{battle.public_id}/",
        f"/api/v1/sessions/{session.public_id}/", f"/api/v1/battles/{battle.public_id}/",
    ]  # fmt: skip
    before = {address: client.get(address).status_code for address in addresses}
    assert "Undo" in discard(client, session)
    assert {client.get(address).status_code for address in addresses} == {404}
    assert client.get("/api/v1/sessions/").json()["count"] == 0
    assert client.post(f"/battles/{battle.public_id}/vote/", {"choice": "left"}).status_code == 404
    back = client.post(f"/s/{session.public_id}/restore/", headers=HTMX)
    assert "sessions-changed" in back["HX-Trigger"]
    assert {address: client.get(address).status_code for address in addresses} == before


def test_library_has_no_link_to_discarded_session(client: Client, actor: Actor):
    file = keep_upload(actor=actor, content=b"the text of a file", name="notes.txt")
    for _ in range(3):
        make.model()
    session = actions.start_session(
        actor=actor, prompt="hello", battle_request=BattleRequest(attachments=(file.public_id,))
    ).session
    for was_discarded in (False, True):
        assert (session.get_absolute_url() in client.get("/uploads/").text) != was_discarded
        discard(client, session)


def test_sweep_deletes_expired_discarded_sessions(client: Client, actor: Actor):
    lately, long_ago = (make.answered_battle(make.model(), make.model(), actor=actor) for _ in range(2))
    for battle in (lately, long_ago):
        discard(client, battle.session)
    Session.objects.filter(pk=long_ago.session_id).update(discarded_at=Now() - UNDO_WINDOW - timedelta(seconds=1))
    sweep()
    assert (lately.turns.get().prompt, long_ago.turns.get().prompt) == ("one two three", "")
    late = client.post(f"/s/{long_ago.session.public_id}/restore/", headers=HTMX)
    assert (late.status_code, late["HX-Retarget"]) == (404, "#notices")
    assert "already deleted" in late.text
    assert client.post(f"/s/{lately.session.public_id}/restore/").status_code == 302
    sweep()
    lately.session.refresh_from_db()
    assert lately.session.owner_user == actor.user


def test_foreign_discarded_session_cannot_be_restored(client: Client, actor: Actor):
    session = titled(actor, "mine")
    discard(client, session)
    for stranger in (Client(), Client()):
        assert stranger.post(f"/s/{session.public_id}/restore/").status_code == 404
    session.refresh_from_db()
    assert session.discarded_at is not None


def test_discard_without_javascript_offers_undo(client: Client, actor: Actor):
    session = titled(actor, "mine")
    page = client.post(f"/s/{session.public_id}/discard/", follow=True)
    assert page.redirect_chain == [("/sessions/", 302)]
    assert f'action="/s/{session.public_id}/restore/"' in page.text


def test_discarding_the_open_session_redirects_to_start(client: Client, actor: Actor):
    session = titled(actor, "mine")
    open_page = f"http://testserver{session.get_absolute_url()}"
    response = client.post(
        f"/s/{session.public_id}/discard/", headers={**HTMX, "HX-Current-URL": f"{open_page}#battle-x"}
    )
    assert response["HX-Redirect"] == "/"
    assert f'action="/s/{session.public_id}/restore/"' in client.get("/").text


def test_account_deletion_deletes_discarded_sessions(actor: Actor, client: Client):
    from accounts.personal_data import account_deleting

    battle = make.answered_battle(make.model(), make.model(), actor=actor)
    discard(client, battle.session)
    account_deleting.send(sender=None, user=actor.user)
    assert battle.turns.get().prompt == ""
