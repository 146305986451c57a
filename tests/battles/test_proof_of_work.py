"""Where many battles begin, the browsers of visitors work for each further one; members and programs never."""

import base64
import json
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import altcha
import pytest
from django.test import Client

from accounts.actor import Actor
from accounts.models import ApiToken, Scope
from battles.errors import ProofRequired
from battles.models import Battle
from battles.prompting import proof_of_work
from common.errors import ServiceAway
from tests import make

HERE = Actor(network="2026-11:here")


@pytest.fixture(autouse=True)
def _asked_from_the_third(settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.ARENA_PROOF_OF_WORK_FROM = 2
    monkeypatch.setattr(proof_of_work, "AVERAGE_TRIES", 5)


def challenged(actor: Actor = HERE, proof: str = "") -> dict[str, Any]:
    with pytest.raises(ProofRequired) as refused:
        proof_of_work.require_proof(actor, proof)
    return refused.value.challenge


def proof_of(challenge: dict[str, Any]) -> str:
    made = altcha.Challenge.from_dict(challenge)
    solution = altcha.solve_challenge(made)
    assert solution is not None
    return altcha.Payload(made, solution).to_base64()


@pytest.fixture
def challenge() -> dict[str, Any]:
    """Of a network that has begun as many battles as are free."""
    for _ in range(2):
        proof_of_work.require_proof(HERE, "")
    return challenged()


def changed(proof: str, change: Any) -> str:
    said = json.loads(base64.b64decode(proof))
    change(said)
    return base64.b64encode(json.dumps(said).encode()).decode()


def test_a_proof_lets_one_battle_through_and_no_second(challenge):
    proof = proof_of(challenge)
    proof_of_work.require_proof(HERE, proof)
    challenged(proof=proof)


def test_a_proof_written_otherwise_is_the_same_proof(challenge):
    proof = proof_of(challenge)
    proof_of_work.require_proof(HERE, proof)
    challenged(proof=changed(proof, lambda said: said["solution"].update(time=1)))
    challenged(proof=changed(proof, lambda said: said.update(more="words")))


def test_of_two_hundred_who_send_one_proof_at_once_one_gets_through(challenge):
    proof, barrier = proof_of(challenge), Barrier(200)

    def race(_: int) -> bool:
        barrier.wait(30)
        try:
            proof_of_work.require_proof(HERE, proof)
        except ProofRequired:
            return False
        return True

    with ThreadPoolExecutor(200) as threads:
        assert Counter(threads.map(race, range(200))) == {True: 1, False: 199}


def test_of_two_hundred_without_a_proof_exactly_the_free_ones_get_through():
    barrier = Barrier(200)

    def race(_: int) -> bool:
        barrier.wait(30)
        try:
            proof_of_work.require_proof(HERE, "")
        except ProofRequired:
            return False
        return True

    with ThreadPoolExecutor(200) as threads:
        assert Counter(threads.map(race, range(200))) == {True: 2, False: 198}


def test_a_proof_is_good_for_ten_minutes(challenge, monkeypatch):
    early, late = proof_of(challenge), proof_of(challenged())
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 590)
    proof_of_work.require_proof(HERE, early)
    monkeypatch.setattr(time, "time", lambda: now + 610)
    challenged(proof=late)


def test_what_one_network_was_asked_no_other_answers(challenge):
    elsewhere = Actor(network="2026-11:elsewhere")
    for _ in range(2):
        proof_of_work.require_proof(elsewhere, "")
    challenged(elsewhere, proof_of(challenge))


@pytest.mark.parametrize(
    "change",
    [
        lambda said: said["challenge"]["parameters"].update(expiresAt=9_999_999_999),
        lambda said: said["challenge"]["parameters"].update(keyPrefix=""),
        lambda said: said["challenge"]["parameters"].update(cost=1),
        lambda said: said["challenge"]["parameters"].update(cost=float("inf")),
        lambda said: said["challenge"]["parameters"].update(nonce={}),
        lambda said: said["challenge"].update(signature=None),
        lambda said: said["challenge"].update(parameters="none"),
        lambda said: said.update(challenge=[]),
        lambda said: said["solution"].update(counter=-1),
        lambda said: said["solution"].update(counter="1"),
        lambda said: said["solution"].update(counter=said["solution"]["counter"] + 1),
        lambda said: said["solution"].update(derivedKey=7),
        lambda said: said.pop("solution"),
    ],
)
def test_a_proof_that_was_tampered_with_is_none(challenge, change):
    challenged(proof=changed(proof_of(challenge), change))


@pytest.mark.parametrize("proof", ["yes", "ÿ", "e30=", "W10=", "bnVsbA==", "W" * 3_000, "W1tb" * 900])
def test_what_is_no_proof_is_none(challenge, proof):
    challenged(proof=proof)


@pytest.mark.django_db
def test_members_are_never_asked():
    for _ in range(5):
        proof_of_work.require_proof(make.member(), "")


def test_nobody_is_asked_where_it_is_off(settings):
    settings.ARENA_PROOF_OF_WORK_FROM = 0
    for _ in range(5):
        proof_of_work.require_proof(HERE, "")


def test_while_nobody_can_count_no_visitor_gets_through(no_valkey):
    with pytest.raises(ServiceAway):
        proof_of_work.require_proof(HERE, "")


# ---- The two doors. ----


def post(client: Client, path: str = "sessions/", /, **body: Any) -> Any:
    return client.post(f"/api/v1/{path}", {"prompt": "hello", **body}, content_type="application/json")


@pytest.mark.django_db
def test_the_api_asks_for_a_proof_and_takes_it(client: Client, five, settings):
    settings.ARENA_LIMITS = {**settings.ARENA_LIMITS, ("battle", "visitor"): "3/hour"}
    session = [post(client) for _ in range(2)][-1].json()["id"]
    for _ in range(3):  # a refusal uses up nothing of the limit
        refused = post(client, f"sessions/{session}/battles/")
    assert (refused.status_code, refused.json()["code"]) == (429, "proof_required")
    assert 0 < int(refused["Retry-After"]) <= 3600
    assert Battle.objects.count() == 2
    assert post(client, proof=proof_of(refused.json()["challenge"])).status_code == 201
    assert post(client).json()["code"] == "rate_limited"


@pytest.mark.django_db
def test_a_token_is_never_asked(five):
    _, token = ApiToken.issue(user=make.user(), name="plays", scopes=[Scope.BATTLE])
    client = Client(headers={"Authorization": f"Bearer {token}"})
    assert {post(client).status_code for _ in range(5)} == {201}


@pytest.mark.django_db
def test_without_a_script_the_page_says_to_sign_in_or_to_come_back_and_when(client: Client, five):
    for _ in range(3):
        response = client.post("/", {"prompt": "what I typed"})
    assert response.status_code == 429
    assert "Too many battles from your network." in response.text
    assert "Try again in 60 minutes." in response.text
    assert "what I typed</textarea>" in response.text
    assert 'href="/accounts/login/">Sign in' in response.text


@pytest.mark.django_db
def test_the_page_takes_a_proof(client: Client, five):
    for _ in range(2):
        client.post("/", {"prompt": "hello"})
    noticed = client.post("/", {"prompt": "hello"}, headers={"HX-Request": "true"})
    assert noticed.status_code == 429
    challenge = noticed.context["error"].challenge
    assert client.post("/", {"prompt": "hello", "proof": proof_of(challenge)}).status_code == 303
