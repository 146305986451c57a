"""Habits of Keycloak, Entra, Google, Authentik, Zitadel and Authelia, each with its outcome."""

import base64
import hashlib
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from accounts.single_sign_on import issuers
from accounts.staff_rights import MODERATORS
from tests.accounts.single_sign_on.browser import sign_in
from tests.fake_issuer import FakeIssuer

pytestmark = pytest.mark.django_db
ADA, VERIFIED = "ada@example.org", {"email": "ada@example.org", "email_verified": True}
MODERATOR = {"moderators_group": "arena-moderators"}
ZITADEL = "urn:zitadel:iam:org:project:roles"
ACCESS_TOKEN_HASH = base64.urlsafe_b64encode(hashlib.sha256(b"an-access-token").digest()[:16]).rstrip(b"=").decode()


@dataclass(frozen=True)
class Habit:
    """outcome: "member", "moderator" or the code of a refusal. signs: userinfo is a token."""

    token: dict[str, Any]
    outcome: str
    settings: dict[str, Any] = field(default_factory=dict)
    userinfo: dict[str, Any] = field(default_factory=dict)
    document: dict[str, Any] = field(default_factory=dict)
    signs: bool = False
    slash: str = ""


HABITS = {
    "Keycloak: roles of the realm": Habit(
        {**VERIFIED, "azp": "arena", "realm_access": {"roles": ["offline_access", "arena-moderators"]}},
        "moderator", {**MODERATOR, "groups_claim": "realm_access.roles"},
    ),
    "Keycloak: roles of the client": Habit(
        {**VERIFIED, "resource_access": {"arena": {"roles": ["arena-moderators"]}, "account": {"roles": ["view"]}}},
        "moderator", {**MODERATOR, "groups_claim": "resource_access.arena.roles"},
    ),
    "Keycloak: roles of another client": Habit(
        {**VERIFIED, "resource_access": {"account": {"roles": ["arena-moderators"]}}},
        "member", {**MODERATOR, "groups_claim": "resource_access.arena.roles"},
    ),
    "Keycloak: groups with full path": Habit(
        {**VERIFIED, "groups": ["/arena-moderators"]}, "moderator", {"moderators_group": "/arena-moderators"}
    ),
    "Keycloak: signed userinfo": Habit(
        {}, "moderator", MODERATOR, {**VERIFIED, "groups": ["arena-moderators"]}, signs=True
    ),
    "Keycloak: several audiences": Habit({**VERIFIED, "aud": ["arena", "account"], "azp": "arena"}, "member"),
    "several audiences without azp": Habit({**VERIFIED, "aud": ["account", "arena"]}, "member"),
    "azp is null": Habit({**VERIFIED, "azp": None, "aud": ["arena", "account"]}, "member"),
    "azp is another client": Habit({**VERIFIED, "aud": ["arena", "other"], "azp": "other"}, "id_token_audience"),
    "Keycloak: nothing but email_verified in userinfo": Habit({"email": ADA}, "member", userinfo=VERIFIED),
    "Entra: app roles and xms_edov": Habit(
        {"email": ADA, "xms_edov": 1, "roles": ["Arena.Moderator"], "tid": "t", "ver": "2.0"}, "moderator",
        {"verified_claim": "xms_edov", "groups_claim": "roles", "moderators_group": "Arena.Moderator"},
    ),
    "Entra: xms_edov as text": Habit({"email": ADA, "xms_edov": "1"}, "member", {"verified_claim": "xms_edov"}),
    "Entra: no xms_edov": Habit({"email": ADA}, "address_not_verified", {"verified_claim": "xms_edov"}),
    "Entra: groups did not fit": Habit(
        {**VERIFIED, "_claim_names": {"groups": "src1"}, "_claim_sources": {"src1": {"endpoint": "https://x"}}},
        "member", MODERATOR,
    ),
    "Entra: document of all tenants": Habit(
        VERIFIED, "issuer_answer_invalid", document={"issuer": "https://login.microsoftonline.com/{tenantid}/v2.0"}
    ),
    "Google: verified address with at_hash and azp": Habit(
        {**VERIFIED, "azp": "arena", "hd": "example.org", "at_hash": ACCESS_TOKEN_HASH}, "member"
    ),
    "Authentik: unverified address": Habit(
        {"email": ADA, "email_verified": False, "groups": ["arena-moderators"]}, "address_not_verified", MODERATOR
    ),
    "Authentik: unverified address is trusted": Habit(
        {"email": ADA, "email_verified": False, "groups": ["arena-moderators"]}, "moderator",
        {**MODERATOR, "trusts_addresses": True},
    ),
    "Authentik: issuer with last slash": Habit(VERIFIED, "member", slash="/"),
    "issuer without last slash in its tokens": Habit({**VERIFIED, "iss": "{bare}"}, "member", slash="/"),
    "address without a flag is trusted": Habit({"email": ADA}, "member", {"trusts_addresses": True}),
    "address in userinfo without a flag is trusted": Habit(
        {}, "member", {"trusts_addresses": True}, userinfo={"email": ADA}
    ),
    "flag as the text false is trusted": Habit(
        {"email": ADA, "email_verified": "false"}, "member", {"trusts_addresses": True}
    ),
    "trusted, but of a domain that is not listed": Habit(
        {"email": "ada@elsewhere.example"}, "address_of_another_domain", {"trusts_addresses": True}
    ),
    "trusted, but no address": Habit({}, "no_address", {"trusts_addresses": True}),
    "flag as text": Habit({"email": ADA, "email_verified": "True"}, "member"),
    "Zitadel: roles as an object in userinfo": Habit(
        {"aud": ["arena", "327"], "azp": "arena"}, "moderator", {**MODERATOR, "groups_claim": ZITADEL},
        {**VERIFIED, ZITADEL: {"arena-moderators": {"178204173316174381": "example.zitadel.cloud"}}},
    ),
    "Zitadel: only another role": Habit(
        {**VERIFIED, ZITADEL: {"reader": {"178204173316174381": "example.zitadel.cloud"}}}, "member",
        {**MODERATOR, "groups_claim": ZITADEL},
    ),
    "Authelia: everything in signed userinfo": Habit(
        {"amr": ["pwd"]}, "moderator", MODERATOR, {**VERIFIED, "groups": ["arena-moderators"]}, signs=True
    ),
    "claim named by an address": Habit(
        {**VERIFIED, "https://example.com/roles": ["arena-moderators"]}, "moderator",
        {**MODERATOR, "groups_claim": "https://example.com/roles"},
    ),
    "groups as objects": Habit({**VERIFIED, "groups": [{"name": "arena-moderators"}]}, "moderator", MODERATOR),
    "groups as one text": Habit({**VERIFIED, "groups": "all, arena-moderators"}, "moderator", MODERATOR),
    "groups as a number": Habit({**VERIFIED, "groups": 7}, "member", MODERATOR),
    "group whose name contains the other": Habit(
        {**VERIFIED, "groups": ["no arena-moderators", "arena-moderators-2"]}, "member", MODERATOR
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HABITS)
def test_habit_has_its_outcome(issuer: FakeIssuer, client: Client, settings: Any, name: str):
    habit, bare = HABITS[name], issuer.url
    issuer.url += habit.slash
    settings.ARENA_SSO = [issuer.settings(**habit.settings)]
    issuer.document |= {"issuer": issuer.url} | habit.document
    issuer.person = {"sub": "person-1", **habit.token}
    if habit.token.get("iss"):
        issuer.person["iss"] = bare
    issuer.userinfo = {"sub": "person-1", **habit.userinfo}
    issuer.sign_userinfo = issuer.signed if habit.signs else None
    if habit.document:
        assert client.post("/accounts/sso/company/").context["error"].code == habit.outcome
        return
    response = sign_in(client, issuer)
    users = list(User.objects.values_list("is_staff", "groups__name"))
    outcomes = {(False, None): "member", (True, MODERATORS): "moderator"}
    assert [outcomes[user] for user in users] or [response.context["error"].code] == [habit.outcome]
    assert [outcomes[user] for user in users] == [habit.outcome] * len(users)


def test_both_spellings_of_google_are_one_issuer(issuer: FakeIssuer, client: Client, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(issuers, "GOOGLE", issuer.url)
    monkeypatch.setattr(issuers, "GOOGLE_SPELLING", "accounts.google.example")
    issuer.changes = {"iss": "accounts.google.example"}
    assert sign_in(client, issuer).status_code == 302
    assert issuers.Issuer(key="g", url="https://x.example", client_id="a").names == {
        "https://x.example", "https://x.example/"
    }  # fmt: skip


@pytest.mark.parametrize("registered", ["client_secret_basic", "client_secret_post"])
@pytest.mark.parametrize(
    ("listed", "requests"),
    [
        (["client_secret_basic", "client_secret_post", "private_key_jwt"], {"basic": 1, "post": 2}),
        (["client_secret_basic"], {"basic": 1}),
        (["client_secret_post"], {"post": 1}),
        (None, {"basic": 1}),
    ],
)
def test_secret_goes_where_the_client_is_registered(
    issuer: FakeIssuer, client: Client, registered: str, listed: Any, requests: dict[str, int]
):
    """Authelia and Zitadel list header and form, and take the one that was chosen for the client."""
    issuer.secret_method = registered
    issuer.document["token_endpoint_auth_methods_supported"] = listed
    response = sign_in(client, issuer)
    expected = requests.get(registered.rpartition("_")[2])
    assert response.status_code == (302 if expected else 401)
    assert issuer.requests["/token"] == (expected or 1)


def test_rotated_key_signs_in(issuer: FakeIssuer, monkeypatch: pytest.MonkeyPatch):
    from accounts.single_sign_on import discovery

    sign_in(Client(), issuer)
    issuer.key_id, issuer.key = "key-2", issuer.OTHER_KEY
    monkeypatch.setattr(discovery, "MIN_REFRESH_S", 0)
    assert sign_in(Client(), issuer).status_code == 302
    assert issuer.requests["/keys"] == 2


@pytest.mark.parametrize(
    ("given", "later", "is_moderator"),
    [
        ("issuer", None, False),  # Entra and Zitadel leave the claim out for people without a role
        ("issuer", [], False),
        ("issuer", "elsewhere", True),
        ("hand", None, True),
        ("hand", [], False),
        ("hand", ["arena-moderators"], True),
        ("hand", "elsewhere", True),
    ],
)
def test_absent_claim_takes_only_what_the_issuer_gave(
    issuer: FakeIssuer, settings: Any, given: str, later: Any, is_moderator: bool
):
    from django.contrib.auth.models import Group

    settings.ARENA_SSO = [issuer.settings(**MODERATOR)]
    issuer.userinfo = {"sub": "person-1"}
    if given == "issuer":
        issuer.person["groups"] = ["arena-moderators"]
    sign_in(Client(), issuer)
    user = User.objects.get()
    if given == "hand":
        User.objects.update(is_staff=True)
        user.groups.add(Group.objects.get(name=MODERATORS))
    assert user.groups.filter(name=MODERATORS).exists()
    issuer.person["groups"] = None if later == "elsewhere" else later
    issuer.changes = {"groups": None} if issuer.person["groups"] is None else {}
    if later == "elsewhere":
        issuer.changes |= {"_claim_names": {"groups": "src1"}}
    for _ in range(2):
        sign_in(Client(), issuer)
        user.refresh_from_db()
        assert (user.is_staff, user.groups.filter(name=MODERATORS).exists()) == (is_moderator, is_moderator)


def test_silent_userinfo_changes_no_rights(issuer: FakeIssuer, settings: Any):
    settings.ARENA_SSO = [issuer.settings(**MODERATOR)]
    issuer.person["groups"] = ["arena-moderators"]
    sign_in(Client(), issuer)
    issuer.changes, issuer.replies["/userinfo"] = {"groups": None}, (403, b"{}")
    sign_in(Client(), issuer)
    assert User.objects.get().groups.filter(name=MODERATORS).exists()
