import base64
from urllib.parse import quote

import pytest

from battles.streaming.protocol import TurnToken
from models_registry.models import LanguageModel
from tests import make
from tests.fake_provider import CANARY, FakeProvider
from tests.site import Reader

pytestmark = pytest.mark.django_db(transaction=True)

LEFT, RIGHT = "zebra-9d41", "okapi-27fe"


@pytest.fixture(autouse=True)
def _models(fake_provider: FakeProvider):
    for canary in (LEFT, RIGHT):
        make.model(
            f"honest-{canary}", at=fake_provider.base_url, slug=f"slug-{canary}", name=f"Name {canary}",
            organization=f"Org {canary}", license=f"License {canary}", system_prompt=f"System {canary}",
            aliases=[f"alias-{canary}"],
        )  # fmt: skip


def spellings(canary: str) -> list[bytes]:
    raw = canary.encode()
    encoded = [base64.b64encode(b" " * pad + raw)[4:-4] for pad in range(3)]
    return [raw, raw.upper(), raw.hex().encode(), quote(canary, safe="").encode(), *encoded]


def assert_nothing_identifies_models(reader: Reader) -> None:
    received = b"\n".join(reader.received)
    for canary in (LEFT, RIGHT, CANARY):
        for spelling in spellings(canary):
            assert spelling not in received


def test_no_byte_before_the_vote_identifies_models(reader: Reader):
    reader.get("/")
    battle = reader.start_battle("tell me who you are")
    page = reader.get(f"/s/{battle['session']}/")
    assert page.status_code == 200
    list(reader.follow(battle["stream_url"]))
    list(reader.follow(f"/stream/{TurnToken(battle['id'], 0, 'page').signed()}/"))
    reader.get(f"/battles/{battle['id']}/", headers={"HX-Request": "true"})
    reader.get(f"/s/{battle['session']}/")
    reader.get("/sessions/")
    reader.api("GET", "sessions/")
    reader.api("GET", f"sessions/{battle['session']}/")
    answered = reader.battle(battle["id"])
    assert answered["state"] == "awaiting_vote"
    assert answered["sides"] is None
    assert_exports_name(reader, battle["session"])
    answer = reader.api("POST", f"answers/{battle['id']}/rating/", {"stars": 5})
    assert answer.status_code == 404
    reader.api("POST", f"battles/{battle['id']}/messages/", {"prompt": "and again"})
    reader.wait_until_answered(reader.battle(battle["id"]))
    reader.api("POST", f"battles/{battle['id']}/vote/", {"choice": "neither"})
    assert_nothing_identifies_models(reader)

    voted = reader.api("POST", f"battles/{battle['id']}/vote/", {"choice": "left"})
    assert voted.status_code == 201
    assert {side["model"]["id"] for side in voted.json()["sides"]} == {f"slug-{LEFT}", f"slug-{RIGHT}"}
    page = reader.get(f"/s/{battle['session']}/").text
    assert f"Name {LEFT}" in page
    assert f"Name {RIGHT}" in page
    assert_exports_name(reader, battle["session"], f"slug-{LEFT}", f"Name {RIGHT}")


def assert_exports_name(reader: Reader, session: str, *names: str) -> None:
    """Check the exports of page and API in both formats; the reader also collects their bytes."""
    texts = ""
    for path in (f"/s/{session}/export/", f"/api/v1/sessions/{session}/export/"):
        for format_name in ("markdown", "json"):
            exported = reader.get(path, params={"as": format_name})
            assert exported.status_code == 200
            texts += exported.text
    for name in names:
        assert name in texts


def test_filtered_draw_identifies_no_model(reader: Reader, fake_provider: FakeProvider):
    make.model("honest", at=fake_provider.base_url)
    LanguageModel.objects.update(license_kind="open", size_b=7)
    body = {"prompt": "hello", "filters": {"license_kind": "open", "max_size_b": 8}}
    battle = reader.api("POST", "sessions/", body).json()["battles"][0]
    reader.post("/", data={"prompt": "hello", "mode": "blind", "license_kind": "open", "size": "medium"})
    reader.get("/?mode=blind")
    assert reader.wait_until_answered(battle)["sides"] is None
    assert_nothing_identifies_models(reader)


def test_open_battle_keeps_blind_battle_of_session_blind(reader: Reader, fake_provider: FakeProvider):
    battle = reader.wait_until_answered(reader.start_battle())
    for name in ("seen-1", "seen-2"):  # too late to be drawn
        make.model("honest", at=fake_provider.base_url, slug=name, name=name)
    body = {"prompt": "and you?", "mode": "compare", "models": ["seen-1", "seen-2"]}
    opened = reader.api("POST", f"sessions/{battle['session']}/battles/", body).json()
    assert {side["model"]["id"] for side in opened["sides"]} == {"seen-1", "seen-2"}
    reader.wait_until_answered(opened)
    reader.get(f"/s/{battle['session']}/")
    reader.api("GET", f"sessions/{battle['session']}/")
    assert_exports_name(reader, battle["session"], "seen-1", "seen-2")
    assert_nothing_identifies_models(reader)


def test_error_before_the_vote_hides_its_cause(reader: Reader, fake_provider: FakeProvider):
    LanguageModel.objects.update(upstream_name="status-401")
    battle = reader.wait_until_answered(reader.start_battle())
    assert battle["state"] == "void"
    assert {answer["error"] for answer in battle["turns"][0]["answers"]} == {"failed"}
    page = reader.get(f"/s/{battle['session']}/").text
    assert "refused_key" not in page
    assert_nothing_identifies_models(reader)


def test_payload_before_the_vote_has_only_allowed_keys(reader: Reader):
    battle = reader.wait_until_answered(reader.start_battle())
    assert set(battle) == {
        "id", "session", "mode", "state", "categories", "turns", "vote", "sides", "stream_url",
        "can_vote", "can_follow_up", "can_stop", "can_regenerate", "can_publish", "share", "hidden", "consent",
        "consent_withdrawn_at", "created_at", "decision",
    }  # fmt: skip
    assert set(battle["turns"][0]) == {
        "index", "prompt", "attachments", "after_vote", "is_live", "is_failed_follow_up", "context_from",
        "warnings", "answers",
    }  # fmt: skip
    for answer in battle["turns"][0]["answers"]:
        assert set(answer) == {"side", "state", "text", "html", "error", "error_message"}


def test_sides_are_drawn_with_equal_probability(db):
    from random import Random

    from battles.prompting.pairing import Candidate, draw_pair, uniform_pair_weights

    random = Random(20261120)
    candidates = [Candidate(1, 1.0), Candidate(2, 3.0)]
    lefts = sum(draw_pair(candidates, uniform_pair_weights, random).left == 1 for _ in range(2000))
    assert 927 <= lefts <= 1073  # p > 0.001
