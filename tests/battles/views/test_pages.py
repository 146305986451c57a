import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts.actor import VISITOR_COOKIE
from battles.models import Answer, Attachment, Battle, Session, Turn, Vote
from tests import make
from tests.pages import compact
from uploads.limits import MAX_FILE_MB


@pytest.fixture
def client(db) -> Client:
    make.model(), make.model()
    return Client(enforce_csrf_checks=False)


def start(client: Client, prompt: str = "hello there") -> Battle:
    response = client.post("/", {"prompt": prompt})
    assert response.status_code == 303
    session = Session.objects.get(public_id=response["Location"].split("/")[2])
    return session.battles.get()


def answer(battle: Battle, text: str = "an answer") -> None:
    battle.turns.update(state=Turn.State.DONE)
    Answer.objects.filter(turn__battle=battle).update(state=Answer.State.DONE, text=text)


def test_visitor_cookie_is_set_by_first_battle_only(client: Client):
    client.get("/")
    client.get("/leaderboard/")
    assert VISITOR_COOKIE not in client.cookies
    battle = start(client)
    assert VISITOR_COOKIE in client.cookies
    assert client.get(f"/s/{battle.session.public_id}/").status_code == 200


def test_battle_and_vote_work_without_javascript(client: Client):
    battle = start(client)
    page = client.get(battle.session.get_absolute_url())
    assert b'http-equiv="refresh"' in page.content
    answer(battle)
    page = client.get(battle.session.get_absolute_url())
    assert b'http-equiv="refresh"' not in page.content
    assert page.content.count(b'name="choice"') == 4
    voted = client.post(f"/battles/{battle.public_id}/vote/", {"choice": "right"})
    assert voted.status_code == 302
    page = client.get(battle.session.get_absolute_url()).content.decode()
    for side in battle.sides.select_related("model"):
        assert side.model.name in page
    again = client.post(f"/battles/{battle.public_id}/vote/", {"choice": "left"})
    assert again.status_code == 302
    assert Vote.objects.get().choice == "right"


def test_slow_answer_says_so_without_javascript_after_a_while(client: Client):
    battle = start(client)
    path, late = battle.session.get_absolute_url(), "This takes longer than usual."

    def unscripted() -> list[str]:
        return re.findall("<noscript>(.*?)</noscript>", client.get(path).text.partition("<body")[2], re.DOTALL)

    assert [late in text for text in unscripted()] == [False, False]
    Session.objects.update(last_active_at=timezone.now() - timedelta(seconds=9))
    assert [late in text for text in unscripted()] == [True, True]


def test_follow_up_and_new_battle_stay_in_the_session(client: Client):
    battle = start(client)
    answer(battle)
    client.post(f"/battles/{battle.public_id}/messages/", {"prompt": "and then?"})
    assert [turn.prompt for turn in battle.turns.order_by("index")] == ["hello there", "and then?"]
    client.post(f"/s/{battle.session.public_id}/battles/", {"prompt": "something else"})
    assert battle.session.battles.count() == 2


def test_turn_after_the_vote_is_marked_as_not_counted(client: Client):
    battle = start(client)
    answer(battle)
    client.post(f"/battles/{battle.public_id}/vote/", {"choice": "tie"})
    client.post(f"/battles/{battle.public_id}/messages/", {"prompt": "and then?"})
    assert battle.turns.get(index=1).after_vote
    assert "not counted" in client.get(battle.session.get_absolute_url()).content.decode()


@pytest.mark.parametrize("prompt", ["", "   ", "x" * 30_000, "a\x00b"])
def test_unusable_prompt_is_kept_in_the_form(client: Client, prompt: str):
    response = client.post("/", {"prompt": prompt})
    assert response.status_code == 422
    assert Battle.objects.count() == 0
    typed = re.search(r"<textarea[^>]*>(.*?)</textarea>", response.content.decode(), re.DOTALL)
    assert typed is not None
    assert typed[1].strip() == prompt.replace("\x00", typed[1].strip()[1:2]).strip()
    if "\x00" in prompt:
        assert "Your prompt contains an invalid character" in response.text


def test_foreign_battle_returns_404(client: Client):
    battle = start(client)
    answer(battle)
    stranger = Client()
    stranger.post("/", {"prompt": "mine"})
    assert stranger.get(battle.session.get_absolute_url()).status_code == 404
    assert stranger.get(f"/battles/{battle.public_id}/").status_code == 404
    for action in ("vote", "messages", "stop"):
        assert stranger.post(f"/battles/{battle.public_id}/{action}/", {"choice": "left"}).status_code == 404
    assert stranger.post(f"/s/{battle.session.public_id}/battles/", {"prompt": "x"}).status_code == 404
    assert Vote.objects.count() == 0


def test_refusal_is_a_page_or_an_htmx_notice(client: Client):
    battle = start(client)
    page = client.post(f"/battles/{battle.public_id}/messages/", {"prompt": "too early"})
    assert page.status_code == 409
    assert b"<html" in page.content
    notice = client.post(f"/battles/{battle.public_id}/messages/", {"prompt": "x"}, headers={"HX-Request": "true"})
    assert notice.status_code == 409
    assert b"<html" not in notice.content
    assert b"The answers are not complete yet" in notice.content


def test_pages_forbid_inline_scripts_and_foreign_requests(client: Client):
    battle = start(client)
    for path in (
        "/",
        battle.session.get_absolute_url(),
        "/leaderboard/",
        "/sessions/",
        "/accounts/login/",
        "/nothing/",
    ):
        response = client.get(path)
        policy = response["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        page = response.content.decode()
        assert not re.search(r"<script(?![^>]*\b(?:src=|type=\"application/json\"))", page)
        assert not re.search(r"\sstyle=", page)
        assert not re.search(r"(?:src|href|action)=\"(?:https?:)?//", page)


def test_session_page_query_count_is_independent_of_battles(client: Client, django_assert_max_num_queries):
    battle = start(client)
    answer(battle)
    for _ in range(5):
        other = make.answered_battle(*[side.model for side in battle.sides.order_by("position")])
        Battle.objects.filter(pk=other.pk).update(session=battle.session)
    with django_assert_max_num_queries(12):
        client.get(battle.session.get_absolute_url())


def test_sign_in_keeps_the_visitors_battles_and_votes(client: Client):
    battle = start(client)
    answer(battle)
    client.post(f"/battles/{battle.public_id}/vote/", {"choice": "left"})
    make.user("ada@example.org")
    signed_in = client.post("/accounts/login/", {"login": "ada@example.org", "password": "a-good-password"})
    assert signed_in.status_code == 302
    assert client.get(battle.session.get_absolute_url()).status_code == 200
    assert Vote.objects.get().voter.startswith("user:")


def test_sign_up_needs_only_an_email_address(client: Client):
    response = client.post("/accounts/signup/", {"email": "grace@example.org", "password1": "wool-lamp-river-9"})
    assert response.status_code == 302
    assert b"grace@example.org" in client.get("/accounts/email/").content


def test_new_battle_page_states_the_limits(client: Client, settings):
    settings.ARENA_PROMPT_CHARACTERS = 123
    page = compact(client.get("/").text)
    assert 'data-limit="123"' in page
    assert f'data-at-most="{Attachment.MAX_PER_TURN}"' in page
    assert f"Attach at most {Attachment.MAX_PER_TURN} files." in page
    assert f"at most {MAX_FILE_MB} MB each. You can also drop or paste them." in page
    assert f"<p>The file is larger than {MAX_FILE_MB} MB.</p>" in page
