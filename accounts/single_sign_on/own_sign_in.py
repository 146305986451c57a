"""Claims of staff's own last sign-in, masked, for the page “Single sign-on”.

They are kept in Valkey for KEPT_S, under the person's id, without values: only names, kinds and lengths.
"""

import json
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import TypedDict, cast

from accounts.models import User
from accounts.single_sign_on.identity import Groups, Identity
from accounts.single_sign_on.issuers import Issuer
from accounts.single_sign_on.memberships import Membership
from accounts.single_sign_on.rights import Reason, Rule
from common.payload_types import Json, JsonObject
from common.text.storable import storable
from common.valkey.connections import UNREACHABLE, connection, fail_fast

KEPT_S = 1800
MAX_ROWS, MAX_DEPTH, MAX_SHOWN = 60, 3, 100
# Claims about the client, which the settings have as well.
SHOWN = ("iss", "aud", "azp")


class MaskedClaim(TypedDict):
    """kind: text, number, flag, list or object. size: characters or entries. shown: part of the value, or ""."""

    path: str
    kind: str
    size: int
    shown: str


class OwnSignIn(TypedDict):
    """memberships: of teams that the issuer decides. documents: claims of the ID token, and of userinfo if read."""

    issuer: str
    at: float
    is_verified: bool
    rules: list[Rule]
    memberships: list[Membership]
    documents: list[list[MaskedClaim]]


def remember(user: User, identity: Identity, rules: list[Rule], memberships: list[Membership]) -> None:
    """Store the sign-in for its person, if staff; others cannot open the page."""
    if not User.objects.get(pk=user.pk).has_staff_rights:  # which this sign-in may have changed
        return
    documents = [_masked(identity.issuer, document) for document in identity.documents]
    stored: OwnSignIn = {
        "issuer": identity.issuer.url, "at": time.time(), "is_verified": identity.is_verified, "rules": rules,
        "memberships": memberships, "documents": documents,
    }  # fmt: skip
    with suppress(*UNREACHABLE), fail_fast():
        connection().set(_key(user), json.dumps(stored), ex=KEPT_S)


def of(user: User) -> OwnSignIn | None:
    with suppress(*UNREACHABLE), fail_fast():
        if stored := connection().get(_key(user)):
            sign_in = cast(OwnSignIn, json.loads(cast(str, stored)))
            sign_in["rules"] = [Rule(right, has, Reason(reason)) for right, has, reason in sign_in["rules"]]
            sign_in["memberships"] = [
                Membership(team, role, Groups(state)) for team, role, state in sign_in["memberships"]
            ]
            return sign_in
    return None


def _key(user: User) -> str:
    return f"own-sign-in:{user.pk}"


def _masked(issuer: Issuer, document: JsonObject) -> list[MaskedClaim]:
    rows: list[MaskedClaim] = []
    for path, value in _walk(issuer, document, "", 1):
        if len(rows) == MAX_ROWS:
            break
        rows.append(_masked_value(issuer, path, value))
    return rows


def _walk(issuer: Issuer, inner: JsonObject, before: str, depth: int) -> Iterator[tuple[str, Json]]:
    """Return paths and values, objects before their entries. Keys of the claim of groups may be names of groups."""
    for name, value in inner.items():
        path = f"{before}{name}"
        yield path, value
        if path == issuer.groups_claim or depth == MAX_DEPTH:
            continue
        if isinstance(value, list) and value and isinstance(value[0], dict):
            yield from _walk(issuer, value[0], f"{path}[0].", depth + 1)
        elif isinstance(value, dict):
            yield from _walk(issuer, value, f"{path}.", depth + 1)


def _masked_value(issuer: Issuer, path: str, value: Json) -> MaskedClaim:
    kinds = {str: "text", bool: "flag", int: "number", float: "number", list: "list", dict: "object"}
    size = len(value) if isinstance(value, (str, list, dict)) else 0
    shown = ""
    if path in SHOWN:
        shown = ", ".join(str(entry) for entry in (value if isinstance(value, list) else [value]))
    elif path == issuer.verified_claim and not isinstance(value, (list, dict)):
        shown = json.dumps(value)
    elif path == "email" and isinstance(value, str):
        shown = f"{value[:1]}…@{value.rpartition('@')[2]}"
    return {
        "path": storable(path)[:MAX_SHOWN], "kind": kinds.get(type(value), "nothing"), "size": size,
        "shown": storable(shown)[:MAX_SHOWN],
    }  # fmt: skip
