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

    domains: of e-mail addresses that sign in here and not with a password, in lower case.
    staff_group, moderators_group: values of `groups_claim` that give these rights; "" leaves rights alone.
    """

    key: str
    url: str
    client_id: str
    name: str = ""
    client_secret: str = field(default="", repr=False)
    domains: list[str] = field(default_factory=list)
    scope: str = "openid email"
    verified_claim: str = "email_verified"
    groups_claim: str = "groups"
    staff_group: str = ""
    moderators_group: str = ""

    @property
    def host(self) -> str:
        return urlsplit(self.url).hostname or ""

    @property
    def maps_groups(self) -> bool:
        return bool(self.staff_group or self.moderators_group)

    @property
    def names(self) -> set[str]:
        """Return the spellings of the claim `iss`: with and without the last slash, Google's also without a scheme."""
        bare = self.url.rstrip("/")
        return {bare, f"{bare}/"} | ({GOOGLE_SPELLING} if bare == GOOGLE else set())

    def may_have(self, url: object) -> bool:
        """Require HTTPS, except where the issuer runs on this machine."""
        try:
            parts = urlsplit(url) if isinstance(url, str) else None
        except ValueError:
            return False
        if parts is None or not parts.hostname or parts.username or parts.fragment:
            return False
        return parts.scheme == "https" or (parts.scheme == "http" and {self.host, parts.hostname} <= set(LOOPBACK))


def all_issuers() -> list[Issuer]:
    return [Issuer(**fields) for fields in cast(list[JsonObject], settings.ARENA_SSO)]


def issuer_by(*, key: str = "", url: str = "") -> Issuer | None:
    return next((issuer for issuer in all_issuers() if issuer.key == key or issuer.url == url), None)


def issuer_of_address(email: str) -> Issuer | None:
    """Return the issuer with the address's domain."""
    domain = email.rpartition("@")[2].lower()
    return next((issuer for issuer in all_issuers() if domain in issuer.domains), None)
