"""Claims that the arena reads, within limits. Others are never stored."""

from dataclasses import dataclass

from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from accounts.single_sign_on import connections, discovery
from accounts.single_sign_on.errors import (
    AddressNotVerified,
    AddressOfAnotherDomain,
    ClaimInvalid,
    ClaimTooLong,
    NoAddress,
)
from accounts.single_sign_on.issuers import Issuer, issuer_of_address
from common.payload_types import JsonObject
from common.text.storable import storable

MAX_SUBJECT_LENGTH = 191  # of allauth's column; OpenID Connect allows 255
MAX_EMAIL_LENGTH, MAX_SESSION_LENGTH, MAX_GROUP_LENGTH, MAX_GROUPS = 254, 255, 500, 2000


@dataclass(frozen=True)
class Identity:
    """`session`: the issuer's id of its session, for a sign-out; or ""."""

    issuer: Issuer
    subject: str
    email: str = ""
    is_verified: bool = False
    session: str = ""
    groups: frozenset[str] = frozenset()

    def check_address(self) -> None:
        """Refuse an address that the issuer may not speak for. Raises SignOnRefused."""
        if not self.email:
            raise NoAddress(self.issuer)
        if not self.is_verified:
            raise AddressNotVerified(self.issuer)
        domain = self.email.rpartition("@")[2]
        owner = issuer_of_address(self.email)
        if (self.issuer.domains and domain not in self.issuer.domains) or owner not in (None, self.issuer):
            raise AddressOfAnotherDomain(self.issuer, domain)


def read_identity(issuer: Issuer, claims: JsonObject, access_token: object) -> Identity:
    """Asks the userinfo endpoint, too. Raises ClaimInvalid, ClaimTooLong."""
    subject = _text(issuer, claims, "sub", MAX_SUBJECT_LENGTH)
    wanted = {"email", issuer.verified_claim} | ({issuer.groups_claim} if issuer.maps_groups else set())
    documents = [claims] if wanted <= claims.keys() else [claims, _userinfo(issuer, subject, access_token)]
    email, is_verified = _address(issuer, documents)
    of_groups = next((document for document in documents if issuer.groups_claim in document), claims)
    return Identity(
        issuer=issuer,
        subject=subject,
        email=email,
        is_verified=is_verified,
        session=_text(issuer, claims, "sid", MAX_SESSION_LENGTH),
        groups=_groups(issuer, of_groups) if issuer.maps_groups else frozenset(),
    )


def _userinfo(issuer: Issuer, subject: str, access_token: object) -> JsonObject:
    """Return {} without an answer, and for one of another person."""
    url = discovery.endpoints(issuer).userinfo
    if not url or not isinstance(access_token, str) or not access_token.isascii():
        return {}
    answer = connections.fetch(issuer, url, headers={"Authorization": f"Bearer {access_token.strip()}"})
    return answer.body if answer.status == 200 and answer.body.get("sub") == subject else {}


def _address(issuer: Issuer, documents: list[JsonObject]) -> tuple[str, bool]:
    """Return the first document's address, and whether a document with this address calls it verified.

    A flag beside another address, or beside none, says nothing about this one.
    """
    email = ""
    for document in documents:
        named = _email(issuer, document)
        if named and email in ("", named):
            email = named
            if issuer.verified_claim in document:
                # Some issuers send the text "true"; Entra's xms_edov may be 1.
                return email, str(document[issuer.verified_claim]).lower() in ("true", "1")
    return email, False


def _email(issuer: Issuer, document: JsonObject) -> str:
    email = _text(issuer, document, "email", MAX_EMAIL_LENGTH).strip().lower()
    try:
        validate_email(email or "a@example.org")
    except ValidationError:
        raise ClaimInvalid(issuer, "email") from None
    return email


def _text(issuer: Issuer, claims: JsonObject, name: str, maximum: int) -> str:
    text = claims.get(name) or ""
    if not isinstance(text, str) or storable(text) != text or (name == "sub" and not text):
        raise ClaimInvalid(issuer, name)
    if len(text) > maximum:
        raise ClaimTooLong(issuer, name)
    return text


def _groups(issuer: Issuer, claims: JsonObject) -> frozenset[str]:
    listed = claims.get(issuer.groups_claim) or []
    names = [listed] if isinstance(listed, str) else listed
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ClaimInvalid(issuer, issuer.groups_claim)
    if len(names) > MAX_GROUPS or any(len(name) > MAX_GROUP_LENGTH for name in names):
        raise ClaimTooLong(issuer, issuer.groups_claim)
    return frozenset(names)
