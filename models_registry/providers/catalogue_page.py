import asyncio
import json
import logging
from collections.abc import Mapping
from urllib.parse import urlencode, urlsplit

import aiohttp
from django.utils.translation import gettext_lazy as _

from common.payload_types import Json
from common.text import redaction
from models_registry.providers import connections
from models_registry.providers.catalogue import (
    CatalogueRefused,
    NextPage,
    NotACatalogue,
    Offer,
    next_page,
    parse_offers,
)
from models_registry.providers.kinds import ProviderKind
from models_registry.providers.timeouts import run_with_timeout

logger = logging.getLogger(__name__)

TIMEOUT_S = 20.0
CONNECT_TIMEOUT_S = 5.0
MAX_BYTES = 16_000_000
MAX_PAGES = 50
_CURSORS = {ProviderKind.ANTHROPIC: "after_id"}
# Anthropic lists twenty models by default.
_QUERIES = {ProviderKind.ANTHROPIC: "?limit=1000"}


def fetch(base_url: str, *, key: str, kind: ProviderKind, allows_private: bool | None = None) -> list[Offer]:
    """Return the models that the endpoint serves. Takes TIMEOUT_S at most. Raises CatalogueRefused.

    allows_private: as addresses.is_allowed.
    """
    try:
        return run_with_timeout(lambda: _fetch(base_url, key, kind, allows_private), seconds=TIMEOUT_S + 1)
    except TimeoutError:
        raise CatalogueRefused(_TIMED_OUT, seconds=TIMEOUT_S) from None


async def _fetch(base_url: str, key: str, kind: ProviderKind, allows_private: bool | None) -> list[Offer]:
    timeout = aiohttp.ClientTimeout(total=TIMEOUT_S, sock_connect=CONNECT_TIMEOUT_S)
    new_session = connections.new_session(timeout, allows_private=allows_private)
    try:
        async with asyncio.timeout(TIMEOUT_S), new_session as session:
            return await _fetch_pages(session, _address(base_url, kind), key, kind)
    except TimeoutError:
        raise CatalogueRefused(_TIMED_OUT, seconds=TIMEOUT_S) from None
    except CatalogueRefused:
        raise
    except aiohttp.ClientResponseError:  # aiohttp's error for bytes that are not HTTP
        raise CatalogueRefused(_NOT_A_LIST) from None
    except (aiohttp.ClientError, OSError, ValueError) as error:
        raise _unreachable(error, urlsplit(base_url).hostname or base_url) from None
    except Exception:
        logger.exception("a list of models could not be read")
        raise CatalogueRefused(_NOT_A_LIST) from None


async def _fetch_pages(session: aiohttp.ClientSession, address: str, key: str, kind: ProviderKind) -> list[Offer]:
    """Return the offers of all pages, until one has no new ones."""
    offers: dict[str, Offer] = {}
    page: NextPage | None = None
    for _number in range(MAX_PAGES):
        url = address
        if page is not None:
            name = _CURSORS.get(kind, page.name) if page.name == "after" else page.name
            url += f"{'&' if '?' in address else '?'}{urlencode({name: page.cursor})}"
        async with session.get(
            url, headers=_headers(key, kind), allow_redirects=False, auto_decompress=False
        ) as response:
            _check_status(response.status)
            listed, page = _read(redaction.mask_secret(key, await _body(response)))
        new = {offer.upstream_name: offer for offer in listed if offer.upstream_name not in offers}
        offers |= new
        if page is None or not new:
            break
    return [offers[name] for name in sorted(offers)]


def _address(base_url: str, kind: ProviderKind) -> str:
    """Return the list's address; Ollama's own has more details than its OpenAI-compatible one."""
    if kind is ProviderKind.OLLAMA and base_url.endswith("/v1"):
        return base_url.removesuffix("/v1") + "/api/tags"
    return f"{base_url}/models{_QUERIES.get(kind, '')}"


def _headers(key: str, kind: ProviderKind) -> Mapping[str, str]:
    headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
    if key and kind is ProviderKind.ANTHROPIC:
        return headers | {"x-api-key": key, "anthropic-version": "2023-06-01"}
    return headers | ({"Authorization": f"Bearer {key}"} if key else {})


_TIMED_OUT = _("The server did not answer within %(seconds)d seconds.")
_NOT_A_LIST = _("The server answered, but not with a list of models.")
_STATUS = {
    401: _("The provider refused the key (HTTP %(status)d). Enter it again on the provider's page."),
    403: _("The provider refused the key (HTTP %(status)d). Enter it again on the provider's page."),
    404: _("There is no list of models at this address (HTTP 404). The base URL may lack its “/v1”."),
    429: _("The provider's rate limit is reached (HTTP 429). Try again later."),
}


def _check_status(status: int) -> None:
    if status == 200:
        return
    if 300 <= status < 400:
        raise CatalogueRefused(
            _("The server redirects to another address (HTTP %(status)d). Enter the new address."), status=status
        )
    failed = _("The provider reported an error (HTTP %(status)d). Try again later.")
    declined = _("The server declined to list its models (HTTP %(status)d).")
    raise CatalogueRefused(_STATUS.get(status) or (failed if status >= 500 else declined), status=status)


async def _body(response: aiohttp.ClientResponse) -> bytes:
    body = bytearray()
    async for piece in response.content.iter_any():
        body += piece
        if len(body) > MAX_BYTES:
            raise CatalogueRefused(_("The list is longer than %(most)d MB."), most=MAX_BYTES // 1_000_000)
    return bytes(body)


def _read(body: bytes) -> tuple[list[Offer], NextPage | None]:
    if body.lstrip()[:1] == b"<":
        raise CatalogueRefused(_("The server answered with a web page. Is this the address of its API?"))
    try:
        payload: Json = json.loads(body)
    except (ValueError, RecursionError):
        raise CatalogueRefused(_("The server's answer is not JSON. Is this the address of its API?")) from None
    try:
        return parse_offers(payload), next_page(payload)
    except NotACatalogue:
        raise CatalogueRefused(_NOT_A_LIST) from None


def _unreachable(error: Exception, host: str) -> CatalogueRefused:
    if connections.is_address_refused(error):
        return CatalogueRefused(_("This arena does not allow calls to “%(host)s”."), host=host)
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return CatalogueRefused(_("There is no server called “%(host)s”."), host=host)
    if isinstance(error, aiohttp.ClientSSLError):
        return CatalogueRefused(_("The certificate of “%(host)s” cannot be trusted."), host=host)
    if isinstance(error, aiohttp.ClientConnectorError):
        return CatalogueRefused(_("Nothing answers at “%(host)s”: is the server running?"), host=host)
    return CatalogueRefused(_("The connection to “%(host)s” broke before the list was complete."), host=host)
