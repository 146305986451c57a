"""Proof of work for visitors of networks that start many battles.

ALTCHA's protocol, version 2 (https://altcha.org/docs/v2/proof-of-work/): find the counter for which
PBKDF2-SHA-256(password = nonce + counter as big-endian uint32, salt, `cost` iterations) begins with `keyPrefix`.
"""

import secrets
import time

import altcha
from django.conf import settings
from django.utils.crypto import salted_hmac
from limits import RateLimitItemPerHour

from accounts.actor import Actor
from battles.errors import ProofRequired
from common.errors import ServiceAway
from common.payload_types import JsonObject
from common.valkey import limits
from common.valkey.connections import UNREACHABLE, connection, fail_fast

EXPIRES_S = 600
# PBKDF2 iterations of one try: a third of a millisecond. Browsers run it natively, so other programs gain little.
COST = 1_000
# These tries take a browser about a second.
AVERAGE_TRIES = 5_000
MAX_PROOF_CHARACTERS = 4_000  # characters; one has about 600


def require_proof(actor: Actor, proof: str) -> None:
    """Accept members, valid proofs, and networks with few unproven battles this hour.

    proof: base64 of the JSON {challenge, solution: {counter, derivedKey}}, or ""; a valid one can be used once.
    Raises ProofRequired with a challenge, and ServiceAway if battles cannot be counted.
    """
    free = settings.ARENA_PROOF_OF_WORK_FROM * actor.network_times
    if not free or actor.user is not None:
        return
    try:
        with fail_fast():
            if _is_valid(proof, actor.network) and _is_first_use(proof):
                return
            wait = limits.seconds_over(RateLimitItemPerHour(free), "unproven", f"network:{actor.network}")
    except UNREACHABLE as error:
        raise ServiceAway(limits.NOT_COUNTED) from error
    if wait is not None:
        raise ProofRequired(_challenge(actor.network), retry_after=wait)


def _challenge(network: str) -> JsonObject:
    challenge = altcha.create_challenge(
        "PBKDF2/SHA-256",
        COST,
        counter=secrets.randbelow(2 * AVERAGE_TRIES),
        expires_at=int(time.time()) + EXPIRES_S,
        hmac_secret=_secret_for(network),
    )
    return challenge.to_dict()


def _is_valid(proof: str, network: str) -> bool:
    return bool(proof) and altcha.verify_solution(proof, _secret_for(network)).verified


def _is_first_use(proof: str) -> bool:
    # The nonce is signed and unique to a challenge; the proof itself could be encoded in several ways.
    nonce = altcha.Payload.from_base64(proof).challenge.parameters.nonce
    return bool(connection().set(f"proof:{nonce}", 1, nx=True, ex=EXPIRES_S + 60))


def _secret_for(network: str) -> bytes:
    """Return a secret per network: others cannot use its challenges."""
    return salted_hmac("battles.prompting.proof_of_work", network, algorithm="sha256").digest()
