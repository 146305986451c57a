import base64
import json
import time
from collections import Counter
from typing import Any

import altcha
import pytest
from django.test import Client

from accounts.actor import Actor
from accounts.models import Scope
from battles.errors import ProofRequired
from battles.models import Battle
from battles.prompting import proof_of_work
from common.errors import ServiceAway
from tests import make
from tests.concurrency import race

HERE = Actor(network="2026-11:here")


@pytest.fixture(autouse=True)
def _required_from_the_third_battle(settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.ARENA_PROOF_OF_WORK_FROM = 2
    monkeypatch.setattr(proof_of_work, "AVERAGE_TRIES", 5)


def challenged(actor: Actor = HERE, proof: str = "") -> dict[str, Any]:
    with pytest.raises(ProofRequired) as refused:
        proof_of_work.require_proof(actor, proof)
    return refused.value.challenge


def proof_of(challenge: dict[str, Any]) -> str:
    parsed = altcha.Challenge.from_dict(challenge)
    solution = altcha.solve_challenge(parsed)
    assert solution is not None
    return altcha.Payload(parsed, solution).to_base64()


@pytest.fixture
def challenge() -> dict[str, Any]:
    """Return a challenge for a network that has used up its battles without proof."""
    for _ in range(2):
        proof_of_work.require_proof(HERE, "")
    return challenged()


def changed(proof: str, change: Any) -> str:
    payload = json.loads(base64.b64decode(proof))
    change(payload)
    return base64.b64encode(json.dumps(payload).encode()).decode()


def test_proof_is_accepted_once(challenge):
    proof = proof_of(challenge)
    proof_of_work.require_proof(HERE, proof)
    challenged(proof=proof)


def test_reencoded_proof_is_not_accepted_again(challenge):
    proof = proof_of(challenge)
    proof_of_work.require_proof(HERE, proof)
    challenged(proof=changed(proof, lambda payload: payload["solution"].update(time=1)))
    challenged(proof=changed(proof, lambda payload: payload.update(more="words")))


def is_accepted(proof: str) -> bool:
    try:
        proof_of_work.require_proof(HERE, proof)
    except ProofRequired:
        return False
    return True


@pytest.mark.slow
def test_concurrent_uses_of_one_proof_are_accepted_once(challenge):
    proof = proof_of(challenge)
    assert Counter(race(lambda _: is_accepted(proof), range(200))) == {True: 1, False: 199}


def test_concurrent_calls_without_proof_pass_up_to_limit():
    assert Counter(race(lambda _: is_accepted(""), range(200))) == {True: 2, False: 198}


def test_proof_expires_after_ten_minutes(challenge, monkeypatch):
    early, late = proof_of(challenge), proof_of(challenged())
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 590)
    proof_of_work.require_proof(HERE, early)
    monkeypatch.setattr(time, "time", lambda: now + 610)
    challenged(proof=late)


def test_proof_for_another_network_is_refused(challenge):
    elsewhere = Actor(network="2026-11:elsewhere")
    for _ in range(2):
        proof_of_work.require_proof(elsewhere, "")
    challenged(elsewhere, proof_of(challenge))


@pytest.mark.parametrize(
    "change",
    [
        lambda payload: payload["challenge"]["parameters"].update(expiresAt=9_999_999_999),
        lambda payload: payload["challenge"]["parameters"].update(keyPrefix=""),
        lambda payload: payload["challenge"]["parameters"].update(cost=1),
        lambda payload: payload["challenge"]["parameters"].update(cost=float("inf")),
        lambda payload: payload["challenge"]["parameters"].update(nonce={}),
        lambda payload: payload["challenge"].update(signature=None),
        lambda payload: payload["challenge"].update(parameters="none"),
        lambda payload: payload.update(challenge=[]),
        lambda payload: payload["solution"].update(counter=-1),
        lambda payload: payload["solution"].update(counter="1"),
        lambda payload: payload["solution"].update(counter=payload["solution"]["counter"] + 1),
        lambda payload: payload["solution"].update(derivedKey=7),
        lambda payload: payload.pop("solution"),
    ],
)
def test_tampered_proof_is_refused(challenge, change):
    challenged(proof=changed(proof_of(challenge), change))


@pytest.mark.parametrize("proof", ["yes", "ÿ", "e30=", "W10=", "bnVsbA==", "W" * 3_000, "W1tb" * 900])
def test_malformed_proof_is_refused(challenge, proof):
    challenged(proof=proof)


@pytest.mark.django_db
def test_members_need_no_proof():
    for _ in range(5):
        proof_of_work.require_proof(make.member(), "")


def test_setting_of_zero_requires_no_proof(settings):
    settings.ARENA_PROOF_OF_WORK_FROM = 0
    for _ in range(5):
        proof_of_work.require_proof(HERE, "")


def test_visitors_are_refused_while_valkey_is_away(no_valkey):
    with pytest.raises(ServiceAway):
        proof_of_work.require_proof(HERE, "")


# ---- Page and API ----


def post(client: Client, path: str = "sessions/", /, **body: Any) -> Any:
    return client.post(f"/api/v1/{path}", {"prompt": "hello", **body}, content_type="application/json")


@pytest.mark.django_db
def test_api_requires_and_accepts_a_proof(client: Client, five_models, settings):
    settings.ARENA_LIMITS = {**settings.ARENA_LIMITS, ("battle", "visitor"): "3/hour"}
    session = [post(client) for _ in range(2)][-1].json()["id"]
    for _ in range(3):  # a refusal does not count against the limit
        refused = post(client, f"sessions/{session}/battles/")
    assert (refused.status_code, refused.json()["code"]) == (429, "proof_required")
    assert 0 < int(refused["Retry-After"]) <= 3600
    assert Battle.objects.count() == 2
    assert post(client, proof=proof_of(refused.json()["challenge"])).status_code == 201
    assert post(client).json()["code"] == "rate_limited"


@pytest.mark.django_db
def test_api_token_needs_no_proof(five_models):
    client = make.api(scopes=[Scope.BATTLE])
    assert {post(client).status_code for _ in range(5)} == {201}


@pytest.mark.django_db
def test_page_without_javascript_offers_sign_in_and_wait(client: Client, five_models):
    for _ in range(3):
        response = client.post("/", {"prompt": "what I typed"})
    assert response.status_code == 429
    assert "Too many battles from your network." in response.text
    assert "Try again in 60 minutes." in response.text
    assert "what I typed</textarea>" in response.text
    assert 'href="/accounts/login/">Sign in' in response.text


@pytest.mark.django_db
def test_page_accepts_a_proof(client: Client, five_models):
    for _ in range(2):
        client.post("/", {"prompt": "hello"})
    refused = client.post("/", {"prompt": "hello"}, headers={"HX-Request": "true"})
    assert refused.status_code == 429
    challenge = refused.context["error"].challenge
    assert client.post("/", {"prompt": "hello", "proof": proof_of(challenge)}).status_code == 303
