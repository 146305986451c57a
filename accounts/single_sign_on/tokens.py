"""Verification of tokens: signature, issuer, audience and times."""

import hashlib
import logging
from base64 import urlsafe_b64encode

import jwt
from django.utils.crypto import constant_time_compare

from accounts.single_sign_on import discovery
from accounts.single_sign_on.errors import TokenInvalid
from accounts.single_sign_on.issuers import Issuer
from common.payload_types import JsonObject

logger = logging.getLogger(__name__)

# Symmetric algorithms, whose key would be the client's secret, and "none" are left out.
ALGORITHMS = {
    "RS256": "RSA", "RS384": "RSA", "RS512": "RSA", "PS256": "RSA", "PS384": "RSA", "PS512": "RSA",
    "ES256": "EC", "ES384": "EC", "ES512": "EC", "EdDSA": "OKP",
}  # fmt: skip
MAX_CHARACTERS = 64_000
# Shorter keys can be factored; longer ones take seconds for each token.
MIN_RSA_BITS, MAX_RSA_BITS = 2048, 8192
LEEWAY_S = 60
REASONS: list[tuple[type[Exception], str]] = [
    (jwt.ExpiredSignatureError, "expired"),
    (jwt.ImmatureSignatureError, "not_yet_valid"),
    (jwt.InvalidIssuerError, "issuer"),
    (jwt.InvalidAudienceError, "audience"),
    (jwt.MissingRequiredClaimError, "incomplete"),
    (jwt.InvalidSignatureError, "signature"),
]
# Values of a token that no library refuses by name: deep nesting, infinite numbers, wrong types.
UNREADABLE = (jwt.PyJWTError, RecursionError, ValueError, TypeError, OverflowError, AttributeError)


def id_token_claims(issuer: Issuer, token: object, *, nonce: str, access_token: object) -> JsonObject:
    """Raises TokenInvalid."""
    claims = verified_claims(issuer, token, required=["exp", "iat", "iss", "aud", "sub"])
    if not nonce or not constant_time_compare(str(claims.get("nonce", "")), nonce):
        raise refused(issuer, "nonce")
    if claims.get("at_hash") is not None and not _is_hash_of(claims["at_hash"], access_token, str(token)):
        raise refused(issuer, "access_token")
    return claims


def verified_claims(issuer: Issuer, token: object, *, required: list[str]) -> JsonObject:
    """Raises TokenInvalid, and as discovery.endpoints.

    Several audiences need no `azp`: a code belongs to one client, and the nonce to one sign-in.
    """
    if not isinstance(token, str) or not token:
        raise refused(issuer, "missing")
    if len(token) > MAX_CHARACTERS:
        raise refused(issuer, "too_long")
    try:
        header = jwt.get_unverified_header(token)
        algorithm, key_id = header.get("alg"), header.get("kid", "")
        if algorithm not in ALGORITHMS or not isinstance(key_id, str):
            raise refused(issuer, "algorithm")
        claims: JsonObject = jwt.decode(
            token, _key(issuer, algorithm, key_id), algorithms=[algorithm], issuer=issuer.names,
            audience=issuer.client_id, leeway=LEEWAY_S, options={"require": required},
        )  # fmt: skip
    except UNREADABLE as error:
        reason = next((reason for kind, reason in REASONS if isinstance(error, kind)), "unreadable")
        raise refused(issuer, reason) from error
    if claims.get("azp") not in (None, issuer.client_id):  # made for another client, which may pass it on
        raise refused(issuer, "audience")
    return claims


def refused(issuer: Issuer, reason: str) -> TokenInvalid:
    logger.warning("a token of issuer %s is refused: %s", issuer.key, reason)
    return TokenInvalid(issuer, reason)


def _is_hash_of(digest: object, access_token: object, token: str) -> bool:
    """Return whether `at_hash` is the left half of the access token's digest, by the algorithm of the ID token."""
    bits = str(jwt.get_unverified_header(token)["alg"])[2:]
    whole = hashlib.new(f"sha{bits if bits in ('256', '384') else '512'}", str(access_token).encode()).digest()
    expected = urlsafe_b64encode(whole[: len(whole) // 2]).rstrip(b"=").decode()
    return constant_time_compare(str(digest).rstrip("="), expected)


def _key(issuer: Issuer, algorithm: str, key_id: str) -> jwt.PyJWK:
    """Raises TokenInvalid unless one key may have signed."""
    usable = [
        key
        for key in discovery.signing_keys(issuer, key_id)
        if key.get("kty") == ALGORITHMS[algorithm]
        and key.get("use", "sig") == "sig"
        and key.get("alg", algorithm) == algorithm
    ]
    if len(usable) != 1:
        raise refused(issuer, "key")
    key = jwt.PyJWK(usable[0], algorithm)
    if ALGORITHMS[algorithm] == "RSA" and not MIN_RSA_BITS <= key.key.key_size <= MAX_RSA_BITS:
        raise refused(issuer, "key")
    return key
