"""Sentences of the page “Single sign-on”: an issuer's document, and the claims and rules of one's own sign-in."""

from datetime import UTC, datetime
from typing import NamedTuple

from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from accounts.models import Role
from accounts.single_sign_on.identity import Groups
from accounts.single_sign_on.issuers import Issuer
from accounts.single_sign_on.memberships import Membership
from accounts.single_sign_on.own_sign_in import MaskedClaim, OwnSignIn
from accounts.single_sign_on.rights import Reason, Rule
from common.payload_types import JsonObject

# Entries of a discovery document that sign-ins depend on, or that the settings name.
ANNOUNCED = (
    "issuer", "authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri", "scopes_supported",
    "claims_supported", "id_token_signing_alg_values_supported", "userinfo_signing_alg_values_supported",
    "token_endpoint_auth_methods_supported", "code_challenge_methods_supported", "subject_types_supported",
    "authorization_response_iss_parameter_supported", "backchannel_logout_supported",
    "backchannel_logout_session_supported",
)  # fmt: skip
MAX_SHOWN = 600


class Announcement(NamedTuple):
    """inside: the address that the arena calls instead, or ""."""

    name: str
    value: str
    inside: str = ""


class Report(NamedTuple):
    at: datetime
    sentences: list[tuple[str, str]]
    documents: list[tuple[str, list[tuple[str, str, str]]]]


def announcements(issuer: Issuer, document: JsonObject) -> list[Announcement]:
    return [_announcement(issuer, name, document[name]) for name in ANNOUNCED if name in document]


def _announcement(issuer: Issuer, name: str, value: object) -> Announcement:
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    text = (text.lower() if isinstance(value, bool) else text)[:MAX_SHOWN]
    is_called = name in ("token_endpoint", "userinfo_endpoint", "jwks_uri")
    inside = issuer.internal(text) if is_called else text
    return Announcement(name, text, inside if inside != text else "")


def report(issuer: Issuer, sign_in: OwnSignIn) -> Report:
    rights = {"staff": _("Staff"), "moderator": _("Moderator")}
    sentences = [(_("E-mail address"), _address(issuer, is_verified=sign_in["is_verified"]))]
    sentences += [(rights[rule.right], _sentence(issuer, rule)) for rule in sign_in["rules"]]
    sentences += [(member.team, _of_team(member)) for member in sign_in["memberships"]]
    names = [_("ID token"), _("Userinfo")]
    documents = [
        (name, [(claim["path"], _kind(claim), claim["shown"]) for claim in claims])
        for name, claims in zip(names, sign_in["documents"], strict=False)
    ]
    return Report(datetime.fromtimestamp(sign_in["at"], UTC), sentences, documents)


def _address(issuer: Issuer, *, is_verified: bool) -> str:
    if is_verified:
        return _("Verified, because %(claim)s is true.") % {"claim": issuer.verified_claim}
    if issuer.trusts_addresses:
        return _("Not verified (%(claim)s); trusted by your setting, for new accounts only.") % {
            "claim": issuer.verified_claim
        }
    return _("Not verified (%(claim)s); new accounts with it are refused.") % {"claim": issuer.verified_claim}


def _sentence(issuer: Issuer, rule: Rule) -> str:
    match rule.reason:
        case Reason.CONTAINS:
            sentence = _("Yes, because %(claim)s contains “%(group)s”.")
        case Reason.LACKS:
            sentence = _("No, because %(claim)s does not contain “%(group)s”.")
        case Reason.ABSENT if rule.has:
            sentence = _("Yes, as before: %(claim)s is absent, and the right was given here in the administration.")
        case Reason.ABSENT:
            sentence = _("No, because %(claim)s is absent.")
        case Reason.UNKNOWN if rule.has:
            sentence = _("Yes, as before: %(claim)s could not be read.")
        case Reason.UNKNOWN:
            sentence = _("No, as before: %(claim)s could not be read.")
        case Reason.MODERATOR:
            sentence = _("Yes, because moderators are staff.")
        case Reason.ADMINISTRATOR:
            sentence = _("Yes, as before: administrators keep their rights.")
        case Reason.NO_GROUP if rule.has:
            sentence = _("Yes, as before: the settings name no group for it.")
        case _:
            sentence = _("No, as before: the settings name no group for it.")
    group = issuer.staff_group if rule.right == "staff" else issuer.moderators_group
    return sentence % {"claim": issuer.groups_claim, "group": group}


def _of_team(member: Membership) -> str:
    words = {"role": Role(member.role).label if member.role else ""}
    match member.state:
        case Groups.UNKNOWN if member.role:
            return _("Member as before (%(role)s): a claim could not be read.") % words
        case Groups.ABSENT if member.role:
            return _("Member as before (%(role)s): a claim is absent.") % words
        case _ if member.role:
            return _("Member of the team (%(role)s).") % words
        case _:
            return _("Not a member: no claim names a group of the team.")


def _kind(claim: MaskedClaim) -> str:
    size = claim["size"]
    match claim["kind"]:
        case "text":
            return ngettext("text, %(n)d character", "text, %(n)d characters", size) % {"n": size}
        case "list":
            return ngettext("list, %(n)d entry", "list, %(n)d entries", size) % {"n": size}
        case "object":
            return ngettext("object, %(n)d entry", "object, %(n)d entries", size) % {"n": size}
        case "number":
            return pgettext("kind of value", "number")
        case "flag":
            return _("yes or no")
    return _("empty")
