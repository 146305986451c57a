from dataclasses import dataclass, field
from typing import cast
from urllib.parse import urlsplit

from django.conf import settings

from common.payload_types import JsonObject

LOOPBACK = ("localhost", "127.0.0.1", "::1")
# Google's tokens name it in two ways.
GOOGLE, GOOGLE_SPELLING = "https://accounts.google.com", "accounts.google.com"


@dataclass(frozen=True)
class Issuer:
    """`url` identifies it, as the claim `iss`; `key` is in the arena's addresses.

    internal_url: the same issuer for the arena's own requests; browsers never go there.
    domains: of e-mail addresses that sign in here and not with a password, in lower case.
    trusts_addresses: new accounts may have addresses that the issuer does not call verified.
    staff_group, moderators_group: values of `groups_claim` that give these rights; "" leaves rights alone.
    """

    key: str
    url: str
    client_id: str
    name: str = ""
    client_secret: str = field(default="", repr=False)
    internal_url: str = ""
    domains: list[str] = field(default_factory=list)
    scope: str = "openid email"
    verified_claim: str = "email_verified"
    trusts_addresses: bool = False
    groups_claim: str = "groups"
    staff_group: str = ""
    moderators_group: str = ""

    @property
    def maps_groups(self) -> bool:
        return bool(self.staff_group or self.moderators_group)

    @property
    def names(self) -> set[str]:
        """Return the spellings of the claim `iss`: with and without the last slash, Google's also without a scheme."""
        bare = self.url.rstrip("/")
        return {bare, f"{bare}/"} | ({GOOGLE_SPELLING} if bare == GOOGLE else set())

    @property
    def hosts(self) -> set[str]:
        """Return the hosts that the operator named; they may be in a private network."""
        return {urlsplit(url).hostname or "" for url in (self.url, self.internal_url) if url}

    def may_have(self, url: object) -> bool:
        """Require HTTPS, except at the internal address and where the issuer runs on this machine."""
        try:
            parts = urlsplit(url) if isinstance(url, str) else None
        except ValueError:
            return False
        if parts is None or not parts.hostname or parts.username or parts.fragment:
            return False
        host = urlsplit(self.url).hostname
        return parts.scheme == "https" or (
            parts.scheme == "http" and ({host, parts.hostname} <= set(LOOPBACK) or self._is_internal(url))
        )

    def internal(self, url: str) -> str:
        """Return the address for the arena's own request to the issuer's endpoint `url`."""
        public, inside = self._bases
        return inside + url.removeprefix(public) if inside and _is_below(url, public) else url

    def public(self, url: str) -> str:
        """Return the address for browsers."""
        public, inside = self._bases
        return public + url.removeprefix(inside) if self._is_internal(url) else url

    def _is_internal(self, url: object) -> bool:
        inside = self._bases[1]
        return bool(inside) and isinstance(url, str) and _is_below(url, inside)

    @property
    def _bases(self) -> tuple[str, str]:
        """Return what differs at the beginning of both addresses: endpoints need not be below the issuer's path."""
        public, inside = self.url.rstrip("/"), self.internal_url.rstrip("/")
        while inside and public.count("/") > 2 and inside.count("/") > 2:
            (public_rest, _, public_part), (inside_rest, _, part) = public.rpartition("/"), inside.rpartition("/")
            if part != public_part:
                break
            public, inside = public_rest, inside_rest
        return public, inside


def _is_below(url: str, base: str) -> bool:
    return url == base or url.startswith((f"{base}/", f"{base}?"))


def all_issuers() -> list[Issuer]:
    return [Issuer(**fields) for fields in cast(list[JsonObject], settings.ARENA_SSO)]


def issuer_by(*, key: str = "", url: str = "") -> Issuer | None:
    return next((issuer for issuer in all_issuers() if issuer.key == key or issuer.url == url), None)


def issuer_of_address(email: str) -> Issuer | None:
    """Return the issuer with the address's domain."""
    domain = email.rpartition("@")[2].lower()
    return next((issuer for issuer in all_issuers() if domain in issuer.domains), None)
