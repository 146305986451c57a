"""Claims that the arena reads, within limits. Others are never stored."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from accounts.models import IssuerGroup
from accounts.single_sign_on import connections, discovery, tokens
from accounts.single_sign_on.claims import find, names_in
from accounts.single_sign_on.errors import (
    AddressNotVerified,
    AddressOfAnotherDomain,
    ClaimInvalid,
    ClaimTooLong,
    NoAddress,
    TokenInvalid,
    UserinfoInvalid,
)
from accounts.single_sign_on.issuers import Issuer, issuer_of_address
from common.payload_types import JsonObject
from common.text.storable import storable

logger = logging.getLogger(__name__)

MAX_SUBJECT_LENGTH = 191  # of allauth's column; OpenID Connect allows 255
MAX_EMAIL_LENGTH, MAX_SESSION_LENGTH, MAX_GROUP_LENGTH, MAX_GROUPS = 254, 255, 500, 2000


# Key of a connection's extra_data: the rights that its issuer gave.
RIGHTS_KEY = "rights"


class Groups(StrEnum):
    """State of the claim of groups in ID token and userinfo."""

    SENT = "sent"
    ABSENT = "absent"
    UNKNOWN = "unknown"  # userinfo did not answer, or the groups did not fit into the token


class Named(NamedTuple):
    """Names of groups in a claim."""

    state: Groups = Groups.ABSENT
    names: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Identity:
    """`session`: the issuer's id of its session, for a sign-out; or "".

    named: state and names by claim, for the claims that the settings or teams use.
    documents: the claims of the ID token, and of userinfo where it was read. They are not stored.
    """

    issuer: Issuer
    subject: str
    email: str = ""
    is_verified: bool = False
    session: str = ""
    named: Mapping[str, "Named"] = field(default_factory=dict)
    documents: list[JsonObject] = field(default_factory=list, repr=False, compare=False)

    @property
    def of_settings(self) -> "Named":
        """Return the names in the claim of groups that the settings name."""
        return self.named.get(self.issuer.groups_claim, Named())

    def check_address(self) -> None:
        """Refuse an address that the issuer may not speak for. Raises SignOnRefused."""
        if not self.email:
            raise NoAddress(self.issuer)
        if not (self.is_verified or self.issuer.trusts_addresses):
            raise AddressNotVerified(self.issuer)
        domain = self.email.rpartition("@")[2]
        owner = issuer_of_address(self.email)
        if (self.issuer.domains and domain not in self.issuer.domains) or owner not in (None, self.issuer):
            raise AddressOfAnotherDomain(self.issuer, domain)


def read_identity(issuer: Issuer, claims: JsonObject, access_token: object) -> Identity:
    """Asks the userinfo endpoint, too. Raises ClaimInvalid, ClaimTooLong."""
    subject = _text(issuer, claims, "sub", MAX_SUBJECT_LENGTH)
    of_teams = IssuerGroup.objects.filter(issuer=issuer.key, team__archived_at=None)
    of_groups = {*([issuer.groups_claim] if issuer.maps_groups else []), *of_teams.values_list("claim", flat=True)}
    wanted = ["email", issuer.verified_claim, *of_groups]
    is_complete = all(find(claims, path) is not None for path in wanted)
    userinfo = {} if is_complete else _userinfo(issuer, subject, access_token)
    documents = [claims, *([userinfo] if userinfo else [])]
    email, is_verified = _address(issuer, documents)
    return Identity(
        issuer=issuer,
        subject=subject,
        email=email,
        is_verified=is_verified,
        session=_text(issuer, claims, "sid", MAX_SESSION_LENGTH),
        named={claim: _named(documents, claim, is_complete=userinfo is not None) for claim in of_groups},
        documents=documents,
    )


def _userinfo(issuer: Issuer, subject: str, access_token: object) -> JsonObject | None:
    """Return None without an answer, and for one of another person; {} if the issuer has no userinfo.

    Raises UserinfoInvalid for a signed answer that cannot be verified.
    """
    url = discovery.endpoints(issuer).userinfo
    if not url:
        return {}
    if not isinstance(access_token, str) or not access_token.isascii():
        return None
    answer = connections.fetch(issuer, url, headers={"Authorization": f"Bearer {access_token.strip()}"})
    claims = answer.body
    if answer.token is not None:
        try:
            claims = tokens.verified_claims(issuer, answer.token, required=["iss", "aud", "sub"])
        except TokenInvalid as error:
            raise UserinfoInvalid(issuer, error.reason) from error
    if answer.status == 200 and claims.get("sub") == subject:
        return claims
    problem = f"HTTP {answer.status}" if answer.status != 200 else "another subject"
    logger.warning("userinfo of issuer %s is not read: %s", issuer.key, problem)
    return None


def _address(issuer: Issuer, documents: list[JsonObject]) -> tuple[str, bool]:
    """Return the first document's address, and whether a document with this address calls it verified.

    A flag beside another address, or beside none, says nothing about this one.
    """
    email = ""
    for document in documents:
        named = _email(issuer, document)
        if named and email in ("", named):
            email = named
            if (flag := find(document, issuer.verified_claim)) is not None:
                # Some issuers send the text "true"; Entra's xms_edov may be 1.
                return email, str(flag).lower() in ("true", "1")
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


def _named(documents: list[JsonObject], claim: str, *, is_complete: bool) -> Named:
    """is_complete: userinfo answered, or was not needed."""
    sent = [value for document in documents if (value := find(document, claim)) is not None]
    if not sent:
        elsewhere = documents[0].get("_claim_names")  # of Entra, for people in many groups
        is_elsewhere = isinstance(elsewhere, dict) and claim in elsewhere
        return Named(Groups.UNKNOWN if is_elsewhere or not is_complete else Groups.ABSENT)
    names = names_in(sent[0])
    if len(names) > MAX_GROUPS:
        return Named(Groups.UNKNOWN)
    # No group that is set up here has a longer name.
    return Named(Groups.SENT, frozenset(name for name in names if len(name) <= MAX_GROUP_LENGTH))
