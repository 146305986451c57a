import json
import threading

import pytest

from accounts.models import Scope
from battles.models import Battle, Session, Turn, Vote
from models_registry.models import LanguageModel
from tests import make
from tests.fake_provider import FakeProvider
from tests.site import Reader

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _models(fake_provider: FakeProvider):
    for name in ("honest-a", "honest-b"):
        make.model(name, at=fake_provider.base_url)


@pytest.fixture
def token_reader(site: str) -> Reader:
    token = make.token(scopes=[Scope.READ, Scope.BATTLE, Scope.VOTE])
    return Reader(site, token)


def refusal(response) -> tuple[int, str]:
    return response.status_code, response.json()["code"]


def test_api_battle_is_voted_on_and_revealed(token_reader: Reader):
    battle = token_reader.start_battle("hello there")
    assert (battle["state"], battle["can_vote"]) == ("answering", False)
    battle = token_reader.wait_until_answered(battle)
    assert (battle["state"], battle["can_vote"]) == ("awaiting_vote", True)
    assert [answer["text"] for answer in battle["turns"][0]["answers"]] == ["hello there ", "hello there "]
    voted = token_reader.api("POST", f"battles/{battle['id']}/vote/", {"choice": "both_bad"}).json()
    assert voted["state"] == "voted"
    assert voted["vote"] | {"created_at": ""} == {
        "choice": "both_bad", "tags": {}, "comment": "", "created_at": "", "counted": True, "excluded_reason": None,
    }  # fmt: skip
    assert [side["side"] for side in voted["sides"]] == ["left", "right"]
    answer = voted["turns"][0]["answers"][0]
    assert (answer["prompt_tokens"], answer["completion_tokens"], answer["finish"]) == (7, 2, "stop")
    feedback = {"tags": {"left": ["clear"]}, "comment": "fine"}
    response = token_reader.api("POST", f"battles/{battle['id']}/feedback/", feedback)
    assert response.json()["vote"]["tags"] == {"left": ["clear"]}


@pytest.mark.parametrize(
    ("prompt", "sentence"),
    [
        ("", "Write a prompt first."),
        (" \n\t ", "Write a prompt first."),
        ("x" * 30_000, "Your prompt has 30,000 characters; the limit is 20,000."),
        ("a\x00b", "Your prompt contains an invalid character (NUL or half of a surrogate pair)."),
        ("a\ud800b", "Your prompt contains an invalid character (NUL or half of a surrogate pair)."),
    ],
)
def test_unusable_prompt_returns_400_with_sentence(reader: Reader, prompt: str, sentence: str):
    body = json.dumps({"prompt": prompt}).encode()
    response = reader.request("POST", "/api/v1/sessions/", content=body, headers={"Content-Type": "application/json"})
    assert response.status_code == 400
    assert response.json() == {"code": "invalid", "detail": sentence, "fields": {"prompt": [sentence]}}
    assert Session.objects.count() == 0


def test_invalid_bodies_return_field_errors(reader: Reader):
    assert reader.api("POST", "sessions/", {"prompt": "x", "mode": "telepathy"}).json()["fields"].keys() == {"mode"}
    assert reader.api("POST", "sessions/", {}).json()["fields"].keys() == {"prompt"}
    assert reader.api("POST", "sessions/", {"prompt": 7}).status_code in (201, 400)
    assert refusal(reader.api("POST", "sessions/", ["x"])) == (400, "invalid")
    broken = reader.request("POST", "/api/v1/sessions/", content=b"{", headers={"Content-Type": "application/json"})
    assert refusal(broken) == (400, "parse_error")


def test_untimely_or_foreign_calls_are_refused_with_code(reader: Reader, site: str):
    reader.start_battle()
    battle = make.battle(*LanguageModel.objects.all()[:2])  # no worker is woken for it
    Session.objects.update(owner_visitor=Session.objects.exclude(pk=battle.session_id).get().owner_visitor)
    path = f"battles/{battle.public_id}/"
    assert refusal(reader.api("POST", path + "vote/", {"choice": "left"})) == (409, "still_answering")
    assert refusal(reader.api("POST", path + "messages/", {"prompt": "and?"})) == (409, "still_answering")
    assert refusal(reader.api("POST", path + "feedback/", {})) == (409, "not_voted_yet")
    assert refusal(reader.api("POST", path + "vote/", {"choice": "up"})) == (400, "invalid")
    Turn.objects.update(state=Turn.State.DONE)
    assert refusal(reader.api("POST", path + "stop/")) == (409, "nothing_to_stop")
    stranger = Reader(site)
    for method, tail in [("GET", ""), ("GET", "stream/"), ("POST", "vote/"), ("POST", "messages/"), ("POST", "stop/")]:
        assert refusal(stranger.api(method, path + tail, {"choice": "left"} if method == "POST" else None))[0] == 404
    Battle.objects.update(voided_at="2026-01-01T00:00Z")
    assert refusal(reader.api("POST", path + "vote/", {"choice": "left"})) == (409, "battle_void")
    assert refusal(reader.api("POST", path + "messages/", {"prompt": "and?"})) == (409, "battle_void")


def test_repeated_idempotency_key_starts_one_battle(token_reader: Reader):
    headers = {"Idempotency-Key": "k-1"}
    first = token_reader.api("POST", "sessions/", {"prompt": "once"}, headers=headers)
    again = token_reader.api("POST", "sessions/", {"prompt": "once"}, headers=headers)
    assert (first.status_code, first.json()) == (again.status_code, again.json())
    assert Battle.objects.count() == 1
    other = token_reader.api("POST", "sessions/", {"prompt": "twice"}, headers=headers)
    assert refusal(other) == (422, "idempotency_key_reused")


def test_refusal_is_repeated_for_same_idempotency_key(token_reader: Reader):
    headers = {"Idempotency-Key": "k-2"}
    for _ in range(2):
        assert refusal(token_reader.api("POST", "sessions/", {"prompt": ""}, headers=headers)) == (400, "invalid")


def test_concurrent_votes_with_one_key_store_one_vote(token_reader: Reader, site: str):
    battle = token_reader.wait_until_answered(token_reader.start_battle())
    statuses: list[int] = []

    def vote() -> None:
        own_reader = Reader(site, token_reader.token)
        response = own_reader.api(
            "POST", f"battles/{battle['id']}/vote/", {"choice": "left"}, headers={"Idempotency-Key": "v"}
        )
        statuses.append(response.status_code)

    threads = [threading.Thread(target=vote) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(statuses) <= {201, 409}
    assert 201 in statuses
    again = token_reader.api(
        "POST", f"battles/{battle['id']}/vote/", {"choice": "left"}, headers={"Idempotency-Key": "v"}
    )
    assert again.status_code == 201
    assert Vote.objects.count() == 1


def test_fewer_than_two_drawable_models_return_503(reader: Reader):
    LanguageModel.objects.update(status="paused")
    response = reader.api("POST", "sessions/", {"prompt": "hello"})
    assert refusal(response) == (503, "too_few_models")
    assert response.headers["retry-after"] == "30"
    assert Session.objects.count() == 0


def test_rate_limit_returns_429_with_retry_after(reader: Reader, settings):
    settings.ARENA_LIMITS = {**settings.ARENA_LIMITS, ("battle", "visitor"): "2/hour"}
    for _ in range(2):
        reader.start_battle()
    response = reader.api("POST", "sessions/", {"prompt": "one more"})
    assert refusal(response) == (429, "rate_limited")
    assert 0 < int(response.headers["retry-after"]) <= 3600


def test_session_is_listed_renamed_archived_and_deleted(token_reader: Reader):
    battle = token_reader.wait_until_answered(token_reader.start_battle("about zebras"))
    token_reader.api("POST", f"sessions/{battle['session']}/battles/", {"prompt": "more zebras"})
    token_reader.api("POST", f"battles/{battle['id']}/vote/", {"choice": "tie"})
    listed = token_reader.api("GET", "sessions/?search=zebra").json()
    assert (listed["count"], listed["results"][0]["battle_count"]) == (1, 2)
    names = {side["model"]["name"] for side in token_reader.battle(battle["id"])["sides"]}
    assert set(listed["results"][0]["models"]) == names
    assert listed["results"][0]["names_hidden"]  # the second battle's
    assert token_reader.api("GET", "sessions/?search=giraffe").json()["count"] == 0
    path = f"sessions/{battle['session']}/"
    assert token_reader.api("PATCH", path, {"title": "Stripes", "archived": True}).json()["title"] == "Stripes"
    assert token_reader.api("GET", "sessions/").json()["count"] == 0
    assert token_reader.api("GET", "sessions/?archived=true").json()["count"] == 1
    assert token_reader.api("DELETE", path).status_code == 204
    assert token_reader.api("GET", path).status_code == 404
    assert token_reader.api("DELETE", f"{path}?for_good=true").status_code == 204
    assert (Vote.objects.count(), Turn.objects.filter(prompt="").count()) == (1, 2)
    assert Vote.objects.get().voter.startswith("deleted:")


def test_token_without_scope_is_refused(site: str):
    token = make.token(scopes=[Scope.READ])
    reader = Reader(site, token)
    assert refusal(reader.api("POST", "sessions/", {"prompt": "x"})) == (403, "permission_denied")
    assert reader.api("GET", "sessions/").status_code == 200


def test_created_session_payload_equals_fetched_payload(client):
    # The response is built from the rows just stored, without reading them again.
    started = client.post("/api/v1/sessions/", {"prompt": "hello"}, content_type="application/json").json()
    fetched = client.get(f"/api/v1/sessions/{started['id']}/").json()
    for session in (started, fetched):
        session["battles"][0].pop("stream_url")  # signed with the time
    assert started == fetched
