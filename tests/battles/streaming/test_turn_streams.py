import json

import pytest

from battles.actions import delete_session, hide_battles
from battles.models import Answer, Battle, ModerationCase
from battles.streaming.protocol import TurnEvent, TurnToken, entry, stream_key
from common.valkey.connections import connection
from models_registry.models import LanguageModel
from tests import make
from tests.battles.streaming.stream_events import read_until
from tests.fake_provider import PAUSE, FakeProvider
from tests.site import Reader, panes

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _models(fake_provider: FakeProvider):
    for name in ("slow", "slow"):
        make.model(name, at=fake_provider.base_url)


def test_stream_ends_after_both_answers_are_stored(reader: Reader, fake_provider: FakeProvider):
    battle = reader.start_battle(f"one two three four {PAUSE} five six seven eight")
    stream = reader.follow(battle["stream_url"])
    half = dict.fromkeys(("left", "right"), "one two three four ")
    events = read_until(stream, lambda events: panes(events) == half)
    fake_provider.go_on()
    events += stream
    names = [name for _, name, _ in events]
    assert names[:2] == ["state", "state"]
    assert names[-1] == "end"
    assert names.count("text") >= 4
    assert all(id for id, _, _ in events)
    assert panes(events) == dict.fromkeys(("left", "right"), f"one two three four {PAUSE} five six seven eight ")
    assert set(Answer.objects.values_list("state", flat=True)) == {"done"}


@pytest.mark.slow
def test_reconnecting_reader_continues_after_last_id(reader: Reader):
    battle = reader.start_battle("a b c d e f g h i j k l m n o p")
    events = []
    for event in reader.follow(battle["stream_url"]):
        events.append(event)
        if len(events) == 5:
            break
    last_id = events[-1][0]
    events += list(reader.follow(battle["stream_url"], **{"Last-Event-ID": last_id}))
    again = list(reader.follow(battle["stream_url"]))
    assert events == again


@pytest.mark.slow
@pytest.mark.parametrize("action", ["delete", "hide"])
@pytest.mark.parametrize("live", [False, True])
def test_stream_of_deleted_or_hidden_battle_only_ends(
    reader: Reader, fake_provider: FakeProvider, action: str, live: bool
):
    battle = reader.start_battle(f"a secret that {PAUSE} is told for a while")
    if not live:
        fake_provider.go_on()
    events = reader.follow(battle["stream_url"])
    read = [next(event for event in events if event[1] == "text")] if live else list(events)
    assert "secret" in str(read) or live
    if action == "delete":
        assert reader.api("DELETE", f"sessions/{battle['session']}/?for_good=true").status_code == 204
    else:
        case = ModerationCase.objects.create(battle=Battle.objects.get())
        hide_battles(ModerationCase.objects.filter(pk=case.pk), by=make.user(is_staff=True), because="It is private.")
    fake_provider.go_on()  # the models send more text
    for _ in range(2):
        assert [name for _, name, _ in reader.follow(battle["stream_url"])] == ["end"]
    if live:
        assert list(events)[-1][1] == "end"
        assert [name for _, name, _ in reader.follow(battle["stream_url"])] == ["end"]


def test_end_of_deleted_session_follows_last_read_entry():
    """Valkey's ids come from its clock, which may stand still or be set back."""
    battle = make.answered_battle(*LanguageModel.objects.all())
    key = stream_key(battle.public_id, 0)
    last = connection().xadd(key, entry([TurnEvent("text", "left", "a secret")]), id=f"{2**42}-0")
    delete_session(battle.session)
    [[_, entries]] = connection().xread({key: last})
    assert entries == connection().xrange(key)
    assert [json.loads(fields["e"])[0][0] for _, fields in entries] == ["end"]


def test_last_id_in_query_string_is_accepted(reader: Reader):
    battle = reader.start_battle()
    all_events = list(reader.follow(battle["stream_url"]))
    rest = list(reader.follow(f"{battle['stream_url']}?after={all_events[2][0]}"))
    assert rest == all_events[3:]


@pytest.mark.slow
@pytest.mark.parametrize("after", ["nonsense", "0-0.1", f"{2**64}-0", f"1-{2**64}", f"{'9' * 5000}-1"])
def test_invalid_last_id_starts_from_beginning(reader: Reader, after: str):
    invalid, other = reader.start_battle("a b c d e f g h i j k l"), reader.start_battle("a b c d e f g h i j k l")
    stream = reader.follow(f"{invalid['stream_url']}?after={after}")
    first = next(stream)
    assert panes(list(reader.follow(other["stream_url"]))) == dict.fromkeys(
        ("left", "right"), "a b c d e f g h i j k l "
    )
    assert [first, *stream] == list(reader.follow(invalid["stream_url"]))


def test_finished_block_is_sent_as_safe_html(reader: Reader, fake_provider: FakeProvider):
    battle = reader.start_battle(f"**bold** <script>\n\nnext line\n\nlast {PAUSE} words")
    events = read_until(reader.follow(battle["stream_url"]), lambda events: events and events[-1][1] == "block")
    html = json.loads(events[-1][2])["html"]
    fake_provider.go_on()
    reader.wait_until_answered(battle)
    assert html == "<p><strong>bold</strong> &lt;script&gt;</p>\n"


def test_page_stream_sends_fragments(reader: Reader):
    battle = reader.start_battle("five < six")
    token = TurnToken(battle["id"], 0, "page")
    events = list(reader.follow(f"/stream/{token.signed()}/"))
    assert [name for _, name, _ in events[:2]] == ["reset", "reset"]
    pane = f"a-{battle['id']}-0-left"
    text = "".join(data for _, name, data in events if name == "text")
    assert f'<span hx-swap-oob="beforeend:#{pane}-tip">' in text
    assert "&lt;" in text


def test_forged_token_returns_404(reader: Reader):
    forged = reader.get("/stream/forged/")
    assert (forged.status_code, forged.json()["code"]) == (404, "not_found")
    token = TurnToken("x", 0, "api").signed()
    assert reader.get(f"/stream/{token[:-2]}/").status_code == 404


def test_api_redirects_to_stream_of_live_turn(reader: Reader, fake_provider: FakeProvider):
    battle = reader.start_battle(f"one {PAUSE} two")
    response = reader.api("GET", f"battles/{battle['id']}/stream/")
    assert response.status_code == 307
    assert response.headers["location"].startswith("/stream/")
    fake_provider.go_on()
    reader.wait_until_answered(battle)
    assert reader.api("GET", f"battles/{battle['id']}/stream/").status_code == 404
