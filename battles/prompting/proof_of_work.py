"""Visitors of a network from which many battles begin have their browsers work a little for each further one.

The protocol is ALTCHA's, version 2 (https://altcha.org/docs/v2/proof-of-work/): find the counter for which
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
# Iterations of one try: a third of a millisecond, native in browsers, so that other programs are hardly quicker.
COST = 1_000
# About a second of a browser.
AVERAGE_TRIES = 5_000
MOST_OF_A_PROOF = 4_000  # characters; one has about 600


def demand(actor: Actor, proof: str) -> None:
    """Pass members, a good proof, and visitors of a network from which few battles began without one this hour.

    proof: base64 of the JSON {challenge, solution: {counter, derivedKey}}, or "". A good one is used up.
    Raises ProofRequired with a challenge, ServiceAway while nobody can count.
    """
    free = settings.ARENA_PROOF_OF_WORK_FROM
    if not free or actor.user is not None:
        return
    try:
        with fail_fast():
            if _is_good(proof, actor.network) and _is_first_use(proof):
                return
            wait = limits.seconds_over(RateLimitItemPerHour(free), "unproven", f"network:{actor.network}")
    except UNREACHABLE as error:
        raise ServiceAway(limits.NOT_COUNTED) from error
    if wait is not None:
        raise ProofRequired(_challenge(actor.network), retry_after=wait)


def _challenge(network: str) -> JsonObject:
    made = altcha.create_challenge(
        "PBKDF2/SHA-256",
        COST,
        counter=secrets.randbelow(2 * AVERAGE_TRIES),
        expires_at=int(time.time()) + EXPIRES_S,
        hmac_secret=_secret_for(network),
    )
    return made.to_dict()


def _is_good(proof: str, network: str) -> bool:
    return bool(proof) and altcha.verify_solution(proof, _secret_for(network)).verified


def _is_first_use(proof: str) -> bool:
    """Of a good proof: the nonce is signed and one challenge's own, however the proof is written."""
    nonce = altcha.Payload.from_base64(proof).challenge.parameters.nonce
    return bool(connection().set(f"proof:{nonce}", 1, nx=True, ex=EXPIRES_S + 60))


def _secret_for(network: str) -> bytes:
    """Another one for each network: what one was asked, no other can answer."""
    return salted_hmac("battles.prompting.proof_of_work", network, algorithm="sha256").digest()
