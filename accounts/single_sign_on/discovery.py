"""An issuer's endpoints and keys, cached in the process."""

import logging
import time
from dataclasses import dataclass, field

from accounts.single_sign_on import connections
from accounts.single_sign_on.errors import IssuerAnswerInvalid
from accounts.single_sign_on.issuers import Issuer
from common.payload_types import JsonObject

logger = logging.getLogger(__name__)

TTL_S = 3600.0
# An unknown key may be a new one; tokens with invented keys must not cause a request each.
MIN_REFRESH_S = 30.0
WELL_KNOWN = "/.well-known/openid-configuration"


@dataclass(frozen=True)
class Endpoints:
    authorization: str
    token: str
    jwks: str
    userinfo: str = ""
    # The answer to the browser names the issuer (RFC 9207).
    names_issuer: bool = False
    # The client's secret goes into the header instead of the form.
    secret_in_header: bool = False
    # A client is registered with the header or the form; the document lists both.
    takes_both_ways: bool = False
    # The whole document, for the page “Single sign-on”.
    document: JsonObject = field(default_factory=dict, repr=False)


# The issuer's URL → the time of the request, and the answer.
_endpoints: dict[str, tuple[float, Endpoints]] = {}
_keys: dict[str, tuple[float, list[JsonObject]]] = {}


def endpoints(issuer: Issuer) -> Endpoints:
    """Raises IssuerUnreachable and IssuerAnswerInvalid."""
    fetched_at, known = _endpoints.get(issuer.url, (0.0, None))
    if known is None or time.monotonic() - fetched_at > TTL_S:
        known = _read(issuer, _document(issuer, issuer.url.rstrip("/") + WELL_KNOWN))
        _endpoints[issuer.url] = time.monotonic(), known
    return known


def check(issuer: Issuer) -> int:
    """Read document and keys anew, also right after a failure; return the number of keys. Raises as `endpoints`."""
    connections.forget_failure(issuer)
    _endpoints.pop(issuer.url, None)
    _keys.pop(issuer.url, None)
    return len(signing_keys(issuer, ""))


def signing_keys(issuer: Issuer, key_id: str) -> list[JsonObject]:
    """Return all keys for an empty id. Raises as `endpoints`."""
    fetched_at, keys = _keys.get(issuer.url, (0.0, []))
    age = time.monotonic() - fetched_at
    if not keys or age > TTL_S or (age > MIN_REFRESH_S and not _matching(keys, key_id)):
        listed = _document(issuer, endpoints(issuer).jwks).get("keys")
        keys = [key for key in listed if isinstance(key, dict)] if isinstance(listed, list) else []
        _keys[issuer.url] = time.monotonic(), keys
    return _matching(keys, key_id)


def _matching(keys: list[JsonObject], key_id: str) -> list[JsonObject]:
    return [key for key in keys if not key_id or key.get("kid") == key_id]


def _document(issuer: Issuer, url: str) -> JsonObject:
    answer = connections.fetch(issuer, url)
    if answer.status != 200:
        logger.warning("issuer %s answers with HTTP %d", issuer.key, answer.status)
        raise IssuerAnswerInvalid(issuer, f"HTTP {answer.status}: {issuer.internal(url)}")
    return answer.body


def _read(issuer: Issuer, document: JsonObject) -> Endpoints:
    if document.get("issuer") not in issuer.names:
        logger.error(
            "issuer %s: the settings name %s, its document %.200r", issuer.key, issuer.url, document.get("issuer")
        )
        raise IssuerAnswerInvalid(issuer, named=str(document.get("issuer") or "")[:200])
    required = ("authorization_endpoint", "token_endpoint", "jwks_uri")
    document = {**document, "authorization_endpoint": _for_browsers(issuer, document.get("authorization_endpoint"))}
    urls = {name: document[name] for name in (*required, "userinfo_endpoint") if issuer.may_have(document.get(name))}
    if missing := ", ".join(name for name in required if name not in urls):
        logger.error("issuer %s: missing or without HTTPS: %s", issuer.key, missing)
        raise IssuerAnswerInvalid(issuer, f"https: {missing}")
    # OpenID Connect prescribes the header if the document lists no methods.
    listed = document.get("token_endpoint_auth_methods_supported")
    methods = set(map(str, listed)) if isinstance(listed, list) and listed else {"client_secret_basic"}
    return Endpoints(
        authorization=urls["authorization_endpoint"],
        token=urls["token_endpoint"],
        jwks=urls["jwks_uri"],
        userinfo=urls.get("userinfo_endpoint", ""),
        names_issuer=document.get("authorization_response_iss_parameter_supported") is True,
        secret_in_header="client_secret_basic" in methods or "client_secret_post" not in methods,
        takes_both_ways=methods >= {"client_secret_basic", "client_secret_post"},
        document=document,
    )


def _for_browsers(issuer: Issuer, url: object) -> object:
    return issuer.public(url) if isinstance(url, str) else url
