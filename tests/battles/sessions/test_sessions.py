import json

import pytest
from django.test import Client
from django.utils.html import escape

from accounts.actor import Actor
from accounts.models import IdempotencyKey, Visitor
from battles import actions
from battles.models import Answer, Battle, Call, Session, StarRating, Turn, Vote
from battles.prompting.lineup import BattleRequest
from tests import make
from tests.fake_provider import PAUSE, FakeProvider
from tests.pages import compact
from tests.site import Reader

pytestmark = pytest.mark.django_db


def answered(battle: Battle, text: str = "an **answer**") -> Battle:
    battle.turns.update(state=Turn.State.DONE)
    Answer.objects.filter(turn__battle=battle).update(state=Answer.State.DONE, text=text)
    return battle


def compared(actor: Actor, prompt: str = "hello") -> Battle:
    models = tuple(make.model().slug for _ in range(2))
    return answered(
        actions.start_session(actor=actor, prompt=prompt, battle_request=BattleRequest(Battle.Mode.COMPARE, models))
    )


@pytest.fixture
def actor() -> Actor:
    return make.member()


@pytest.fixture
def client(actor: Actor) -> Client:
    return make.browser(actor)


def export(client: Client, session: Session, format_name: str) -> str:
    page = client.get(f"/s/{session.public_id}/export/?as={format_name}")
    api = client.get(f"/api/v1/sessions/{session.public_id}/export/?as={format_name}")
    assert page.status_code == api.status_code == 200
    assert page.content == api.content
    assert "attachment" in page["Content-Disposition"]
    return page.content.decode()


# ---- Export ----


@pytest.mark.parametrize(
    ("prompt", "title"),
    [
        ("# Seas\n\nWhy is **the sea** `salty`?\n\n```python\nsea = 1\n```", "Seas Why is the sea salty? sea = 1"),
        ("- one\n- [two](https://example.org)\n> three", "one two three"),
        ("请解释**量子**力学 and ![a picture](x.png)", "请解释量子力学 and a picture"),
        ("2*3*4, snake_case_name, *args, &lt; and <b>", "2*3*4, snake_case_name, *args, &lt; and <b>"),
        ("***", "***"),
        ("```\n" + "word " * 30, "word word word word word word word word word word word…"),
    ],
)
def test_session_title_is_prompt_start_without_markdown(actor: Actor, client: Client, prompt: str, title: str):
    battle = compared(actor, prompt)
    assert battle.session.title == title
    actions.publish(battle=battle)
    battle.refresh_from_db()
    assert (
        f'<h1 class="unseen" dir="auto">{escape(title.removesuffix("…"))}'
        in client.get(battle.share.get_absolute_url()).text
    )


def test_title_is_seen_once_it_differs_from_the_prompt(actor: Actor, client: Client):
    session = compared(actor, "Why is the sea **salty**?").session
    heading = '<h1 id="session-title"'
    assert f'{heading} class="unseen"' in client.get(session.get_absolute_url()).text
    client.post(f"/s/{session.public_id}/rename/", {"title": "The sea"})
    page = client.get(session.get_absolute_url()).text
    assert f'{heading}\n        dir="auto">The sea' in page


def test_session_export_has_messages_of_each_side(client: Client, actor: Actor):
    left, right = make.model(slug="l"), make.model(slug="r")
    battle = make.answered_battle(left, right, actor=actor)
    answered(battle, "an **answer**")
    shown = Answer.objects.get(turn__battle=battle, side__position="left")
    shown.call = Call.objects.create(answer=shown, model=left, attempt=1, fence=1, total_ms=1900)
    shown.save()
    actions.follow_up(actor=actor, battle=battle, prompt="and\nthen?")
    battle.turns.update(state=Turn.State.DONE)
    battle.turns.get(index=1).answers.filter(side__position="left").update(state="done", text="then")
    battle.turns.get(index=1).answers.filter(side__position="right").update(state="failed", error="cut")
    actions.cast_vote(actor=actor, battle=battle, choice=Vote.Choice.LEFT)
    exported = json.loads(export(client, battle.session, "json"))
    [exported_battle] = exported["battles"]
    assert (exported["title"], exported_battle["mode"], exported_battle["vote"]) == ("one two three", "blind", "left")
    answers = [side.pop("answers") for side in exported_battle["sides"]]
    assert [(answer["turn"], answer["state"], answer["error"]) for side in answers for answer in side] == [
        (0, "done", None), (1, "done", None), (0, "done", None), (1, "failed", "cut"),
    ]  # fmt: skip
    assert [answer["total_ms"] for answer in answers[0]] == [1900, None]
    assert exported_battle["sides"] == [
        {
            "side": "left", "model": "l",
            "messages": [
                {"role": "user", "content": "one two three"}, {"role": "assistant", "content": "an **answer**"},
                {"role": "user", "content": "and\nthen?"}, {"role": "assistant", "content": "then"},
            ],
        },
        {
            "side": "right", "model": "r",
            "messages": [
                {"role": "user", "content": "one two three"}, {"role": "assistant", "content": "an **answer**"},
                {"role": "user", "content": "and\nthen?"},
            ],
        },
    ]  # fmt: skip
    text = export(client, battle.session, "markdown")
    assert text.startswith(f"# one two three\n\n## {left.name} · {right.name}\n\n> one two three\n")
    assert "> and\n> then?" in text
    assert "**Vote:** Answer A was found better." in text


def test_export_before_the_vote_is_blind(client: Client, actor: Actor):
    make.answered_battle(make.model(slug="zebra", name="Zebra"), make.model(slug="okapi", name="Okapi"), actor=actor)
    session = Session.objects.get()
    call = Call.objects.create(answer=Answer.objects.first(), model=make.model(), attempt=1, fence=1, total_ms=1900)
    Answer.objects.filter(pk=call.answer_id).update(call=call)
    sides = json.loads(export(client, session, "json"))["battles"][0]["sides"]
    assert [side["model"] for side in sides] == [None] * 2
    known = {name for side in sides for name, fact in side["answers"][0].items() if fact is not None}
    assert known == {"turn", "state"}
    text = export(client, session, "markdown")
    assert "### Model A" in text
    assert not {"Zebra", "zebra", "Okapi", "okapi"} & set(text.split())


def test_export_shows_stars(client: Client, actor: Actor):
    battle = compared(actor)
    actions.give_stars(actor=actor, answer=Answer.objects.first(), stars=4)
    assert "★★★★☆" in export(client, battle.session, "markdown")


def test_export_in_unknown_format_is_refused(client: Client, actor: Actor):
    session = compared(actor).session
    assert client.get(f"/api/v1/sessions/{session.public_id}/export/?as=pdf").json()["fields"].keys() == {"as"}
    assert client.get(f"/s/{session.public_id}/export/?as=pdf").status_code == 400
    assert Client().get(f"/s/{session.public_id}/export/?as=json").status_code == 404


# ---- Names, the archive, search ----


def test_session_is_renamed_on_its_page(client: Client, actor: Actor):
    session = compared(actor).session
    for title, status in (("Stripes", 302), ("", 422), ("x" * 121, 422), ("a\x00b", 422)):
        assert client.post(f"/s/{session.public_id}/rename/", {"title": title}).status_code == status
    session.refresh_from_db()
    assert session.title == "Stripes"


def test_archived_session_leaves_the_list_and_returns(client: Client, actor: Actor):
    session = compared(actor, "about zebras").session
    page = f"/s/{session.public_id}/"
    client.post(f"{page}archive/", {"archived": "1"})
    assert b"about zebras" not in client.get("/sessions/").content
    assert b"about zebras" in client.get("/sessions/?archived=1&search=zebra").content
    client.post(f"{page}archive/", {"archived": "0"})
    assert b"about zebras" in client.get("/sessions/?search=ZEBRA").content
    assert b"Nothing matches" in client.get("/sessions/?search=giraffe").content


def test_search_escapes_pattern_characters(client: Client, actor: Actor):
    compared(actor, "100 % sure")
    compared(actor, "snake_case")
    for search, title in (("%", b"100 % sure"), ("_", b"snake_case")):
        page = client.get("/api/v1/sessions/", {"search": search}).json()
        assert [session["title"].encode() for session in page["results"]] == [title]


def test_session_list_has_a_fixed_query_count(client: Client, actor: Actor, django_assert_max_num_queries):
    for _ in range(12):
        make.answered_battle(make.model(), make.model(), actor=actor)
    with django_assert_max_num_queries(7):
        assert client.get("/sessions/").content.count(b"one two three") >= 12


# ---- Deleting ----


@pytest.mark.slow
def test_deletion_is_confirmed_and_keeps_votes_and_stars(client: Client, actor: Actor):
    battle = make.answered_battle(make.model(), make.model(), actor=actor)
    actions.cast_vote(actor=actor, battle=battle, choice=Vote.Choice.TIE)
    Battle.objects.filter(pk=compared(actor).pk).update(session=battle.session)
    actions.give_stars(actor=actor, answer=Answer.objects.latest("pk"), stars=2)
    path = f"/s/{battle.session.public_id}/delete/"
    confirmation = client.get(path)
    assert "are deleted for good" in compact(confirmation.content.decode())
    assert Session.objects.get(pk=battle.session_id).owner_user == actor.user
    assert client.post(path)["Location"] == "/sessions/"
    assert client.get(battle.session.get_absolute_url()).status_code == 404
    assert not Answer.objects.filter(turn__battle__session=battle.session).exclude(text="").exists()
    vote, star = Vote.objects.get(), StarRating.objects.get()
    assert vote.voter == star.voter
    assert (vote.voter.startswith("deleted:"), vote.counts, star.stars) == (True, True, 2)
    assert star.renamed_at is not None


@pytest.mark.django_db(transaction=True)
def test_text_streamed_to_deleted_session_is_not_stored(reader: Reader, fake_provider: FakeProvider):
    for _ in range(2):
        make.model("honest", at=fake_provider.base_url)
    battle = reader.start_battle(f"a secret {PAUSE} and more")
    events = reader.follow(battle["stream_url"])
    next(event for event in events if event[1] == "text")
    assert reader.api("DELETE", f"sessions/{battle['session']}/?for_good=true").status_code == 204
    fake_provider.go_on()
    assert [name for _, name, _ in events][-1] == "end"
    turn = Turn.objects.get()
    assert (turn.state, turn.prompt) == (Turn.State.DONE, "")
    assert set(turn.answers.values_list("state", "text")) == {("stopped", "")}


@pytest.mark.parametrize("claimed", [False, True])
def test_stored_results_tell_nothing_of_a_deleted_session(client: Client, actor: Actor, claimed: bool):
    for _ in range(2):
        make.model()

    def post(path: str, key: str) -> dict:
        headers = {"Idempotency-Key": key}
        return client.post(f"/api/v1/{path}", {"prompt": "a secret"}, "application/json", headers=headers).json()

    session = post("sessions/", "one")
    battle = post(f"sessions/{session['id']}/battles/", "two")
    other = post("sessions/", "three")
    assert battle["session"] == session["id"]
    if claimed:
        visitor = make.visitor().visitor
        Visitor.objects.update(claimed_by=actor.user)
        IdempotencyKey.objects.update(actor=Actor(visitor=visitor).key)
    actions.delete_session(Session.objects.get(public_id=session["id"]))
    bodies = {row.key: str(row.body) for row in IdempotencyKey.objects.all()}
    assert ["a secret" in bodies[key] for key in ("one", "two", "three")] == [False, False, True]
    if not claimed:
        assert post("sessions/", "one")["code"] == "not_found"
        assert post("sessions/", "three") == other


# ---- Ownership ----


def test_sign_in_transfers_battles_votes_and_stars(db):
    from accounts.claims import visitor_claimed

    visitor, member = make.visitor(), make.member()
    battle = compared(visitor)
    actions.give_stars(actor=visitor, answer=Answer.objects.first(), stars=3)
    visitor_claimed.send(sender=None, visitor=visitor.visitor, user=member.user)
    assert Battle.objects.owned_by(member).get() == battle
    assert StarRating.objects.get().voter == member.key


def test_foreign_session_returns_404(client: Client):
    session = compared(make.member()).session
    for path in ("export/?as=json", "delete/"):
        assert client.get(f"/s/{session.public_id}/{path}").status_code == 404
    for path in ("rename/", "archive/", "delete/"):
        assert client.post(f"/s/{session.public_id}/{path}", {"title": "mine", "archived": "1"}).status_code == 404
    session.refresh_from_db()
    assert (session.title, session.archived) == ("hello", False)
