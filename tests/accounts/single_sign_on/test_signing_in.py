"""Sign-in by an issuer: accounts, linking, passwords, second factor, groups."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret, hotp_value, yield_hotp_counters_from_time
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import Group
from django.test import Client

from accounts.models import AuditEntry, Ban, SignIn, User
from accounts.personal_data import collect_personal_data
from accounts.staff_rights import MODERATORS
from tests import make
from tests.accounts.single_sign_on.browser import START, leave, sign_in, user_of
from tests.fake_issuer import FakeIssuer

pytestmark = pytest.mark.django_db
LOGIN, CONNECTIONS = "/accounts/login/", "/accounts/connections/"
CONNECT, DISCONNECT = "/accounts/connections/company/connect/", "/accounts/connections/company/disconnect/"
PASSWORD = "a-good-password"


def with_password(client: Client, email: str = "ada@example.org") -> Any:
    return client.post(LOGIN, {"login": email, "password": PASSWORD})


def confirm_identity(client: Client) -> None:
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})


def code_of(secret: str) -> str:
    counter = next(iter(yield_hotp_counters_from_time()))
    return f"{hotp_value(secret, counter):06d}"


def test_first_sign_in_makes_an_account(issuer: FakeIssuer, client: Client):
    response = sign_in(client, issuer, next="/uploads/")
    assert (response.status_code, response["Location"]) == (302, "/uploads/")
    user = User.objects.get()
    assert (user_of(client), user.email, user.has_usable_password()) == (user.pk, "ada@example.org", False)
    assert list(EmailAddress.objects.values_list("email", "verified")) == [("ada@example.org", True)]
    account = SocialAccount.objects.get()
    assert (account.provider, account.uid, account.extra_data) == (issuer.url, "person-1", {"email": "ada@example.org"})
    sign_in_row = SignIn.objects.get()
    assert (sign_in_row.issuer, sign_in_row.issuer_session) == (issuer.url, "session-1")
    [connection] = collect_personal_data(user)["connections"]
    assert (connection["provider"], connection["uid"]) == (issuer.url, "person-1")


def test_second_sign_in_finds_the_account_by_subject(issuer: FakeIssuer):
    sign_in(Client(), issuer)
    issuer.person |= {"email": "ada.lovelace@example.org", "email_verified": False}
    again = Client()
    sign_in(again, issuer)
    assert user_of(again) == User.objects.get().pk
    assert User.objects.get().email == "ada@example.org"


def test_request_has_pkce_nonce_and_no_other_parameters(issuer: FakeIssuer, client: Client):
    parameters = parse_qs(urlsplit(leave(client, f"{START}?scope=admin&auth_params=prompt%3Dnone")).query)
    assert parameters.keys() == {
        "client_id", "redirect_uri", "response_type", "scope", "state", "nonce", "code_challenge",
        "code_challenge_method",
    }  # fmt: skip
    assert parameters["redirect_uri"] == ["http://testserver/accounts/sso/company/callback/"]
    assert set(parameters["scope"][0].split()) == {"openid", "email"}
    assert client.get(START).status_code == 405


def test_address_missing_in_the_token_is_read_from_userinfo(issuer: FakeIssuer, client: Client):
    issuer.userinfo = {"sub": "person-1", "email": "ada@example.org", "email_verified": True}
    issuer.changes = {"email": None, "email_verified": None}
    sign_in(client, issuer)
    assert User.objects.get().email == "ada@example.org"


def test_userinfo_of_another_person_is_ignored(issuer: FakeIssuer, refusal, caplog: pytest.LogCaptureFixture):
    issuer.userinfo = {"sub": "person-2", "email": "eve@example.org", "email_verified": True}
    issuer.changes = {"email": None}
    assert refusal() == (401, "no_address")
    assert "userinfo of issuer company is not read: another subject" in caplog.text
    assert "eve" not in caplog.text


ADA, EVE = "ada@example.org", "eve@example.org"
IS, IS_NOT = {"email_verified": True}, {"email_verified": False}


@pytest.mark.parametrize(
    ("token", "userinfo", "code"),
    [
        ({"email": ADA}, IS, "address_not_verified"),
        ({"email": ADA}, {"email": "", **IS}, "address_not_verified"),
        ({"email": ADA}, {"email": EVE, **IS}, "address_not_verified"),
        ({"email": EVE}, {"email": ADA, **IS}, "address_not_verified"),
        ({"email": ADA, **IS_NOT}, {"email": ADA, **IS}, "address_not_verified"),
        ({"email": ADA, "email_verified": None}, {"email": ADA, **IS_NOT}, "address_not_verified"),
        ({"email": ADA, "email_verified": "false"}, {"email": ADA, **IS}, "address_not_verified"),
        (IS, {"email": ADA}, "address_not_verified"),
        (IS, {"email": ADA, **IS_NOT}, "address_not_verified"),
        (IS, {"email": ADA, "email_verified": ["true"]}, "address_not_verified"),
        (IS, {}, "no_address"),
        ({"email": ADA}, {"sub": "person-2", "email": ADA, **IS}, "address_not_verified"),
        (IS, {"sub": "person-2", "email": ADA, **IS}, "no_address"),
        ({"email": "", **IS}, {"email": ADA}, "address_not_verified"),
        ({"email": ADA, **IS}, {"email": ADA, **IS_NOT}, ""),
        ({"email": ADA}, {"email": ADA, **IS}, ""),
        ({"email": ADA}, {"email": "ADA@Example.org", "email_verified": "true"}, ""),
        ({}, {"email": ADA, **IS}, ""),
        ({**IS_NOT}, {"email": ADA, **IS}, ""),
        ({"email": ADA, "email_verified": "true"}, {"email": EVE, **IS_NOT}, ""),
    ],
)
def test_address_and_its_flag_are_of_one_document(
    issuer: FakeIssuer, client: Client, settings: Any, token: dict[str, Any], userinfo: dict[str, Any], code: str
):
    settings.ARENA_SSO = [issuer.settings(staff_group="arena-staff")]  # groups are read from userinfo, too
    issuer.person = {"sub": "person-1", **token}
    issuer.userinfo = {"sub": "person-1", **userinfo}
    response = sign_in(client, issuer)
    assert [user.email for user in User.objects.all()] == ([] if code else [ADA])
    assert (response.context["error"].code if code else "") == code


@pytest.mark.parametrize("sign_up", ["closed", "invitation"])
def test_closed_arena_takes_people_of_named_domains_only(issuer: FakeIssuer, settings: Any, refusal, sign_up: str):
    settings.ARENA_SIGNUP = sign_up
    settings.ARENA_SSO = [issuer.settings(domains=[])]
    assert refusal() == (403, "no_new_accounts")
    assert not User.objects.exists()
    settings.ARENA_SSO = [issuer.settings()]
    sign_in(Client(), issuer)
    assert User.objects.count() == 1


def test_banned_network_makes_no_account(issuer: FakeIssuer, client: Client):
    from django.test import RequestFactory

    from common.client_ip import network_hash

    Ban.objects.create(network=network_hash(RequestFactory().get("/")), reason="robots")
    assert sign_in(client, issuer).status_code == 403
    assert not User.objects.exists()


def test_existing_account_is_connected_after_its_password(issuer: FakeIssuer, client: Client):
    user = make.user("ada@example.org")
    parameters = sign_in(client, issuer, next="/uploads/")
    assert (parameters["Location"], user_of(client)) == (f"{LOGIN}?next=%2Fuploads%2F", None)
    page = client.get(parameters["Location"])
    assert "already" in page.text
    assert START not in page.text
    assert with_password(client)["Location"] == "/"
    assert (user_of(client), SocialAccount.objects.get().user) == (user.pk, user)
    assert SignIn.objects.get().issuer_session == "session-1"
    other = Client()
    sign_in(other, issuer)
    assert user_of(other) == user.pk
    assert AuditEntry.objects.filter(action="connect issuer").count() == 1


def test_existing_account_is_not_connected_without_its_password(issuer: FakeIssuer, client: Client, settings: Any):
    settings.ARENA_SSO = [issuer.settings(domains=[])]
    make.user("ada@example.org")
    other = make.user("eve@example.com")
    sign_in(client, issuer)
    with_password(client, "eve@example.com")
    assert (user_of(client), SocialAccount.objects.count()) == (other.pk, 0)


def test_second_factor_stands_before_the_connection(issuer: FakeIssuer, client: Client):
    user = make.user("ada@example.org", is_staff=True)
    secret = generate_totp_secret()
    TOTP.activate(user, secret)
    sign_in(client, issuer)
    assert with_password(client)["Location"] == "/accounts/2fa/authenticate/"
    assert (user_of(client), SocialAccount.objects.count()) == (None, 0)
    client.post("/accounts/2fa/authenticate/", {"code": code_of(secret)})
    assert (user_of(client), SocialAccount.objects.get().user) == (user.pk, user)


def test_staff_give_their_second_factor_after_the_issuer(issuer: FakeIssuer, client: Client, settings: Any):
    settings.ARENA_STAFF_SECOND_FACTOR = True
    sign_in(client, issuer)
    user = User.objects.get()
    User.objects.update(is_staff=True)
    assert client.get("/admin/")["Location"] == "/accounts/2fa/totp/activate/"
    secret = generate_totp_secret()
    TOTP.activate(user, secret)
    again = Client()
    assert sign_in(again, issuer)["Location"] == "/accounts/2fa/authenticate/"
    assert user_of(again) is None
    again.post("/accounts/2fa/authenticate/", {"code": code_of(secret)})
    assert (user_of(again), again.get("/admin/").status_code) == (user.pk, 200)


def test_account_prepared_by_staff_is_connected_at_once(issuer: FakeIssuer, client: Client):
    prepared = User.objects.create_user("ada@example.org", None, is_staff=True)
    sign_in(client, issuer)
    assert (user_of(client), SocialAccount.objects.get().user) == (prepared.pk, prepared)


def test_password_of_an_issuers_domain_does_not_sign_in(issuer: FakeIssuer, client: Client):
    make.user("ada@example.org")
    known, unknown = with_password(client), with_password(client, "unknown@example.org")
    for response in (known, unknown):
        assert "This address signs in with Example company" in response.text
    assert user_of(client) is None
    for path, data in [
        ("/accounts/signup/", {"email": "new@example.org", "password1": PASSWORD}),
        ("/accounts/password/reset/", {"email": "ada@example.org"}),
    ]:
        assert "This address signs in with Example company" in client.post(path, data).text
    assert User.objects.count() == 1
    make.user("eve@example.com")
    with_password(client, "eve@example.com")
    assert user_of(client) is not None
    assert "signs in with" in client.post("/accounts/email/", {"email": "eve@example.org", "action_add": ""}).text


def test_second_address_is_no_way_around_the_issuer(issuer: FakeIssuer, client: Client):
    sign_in(client, issuer)
    user = User.objects.get()
    EmailAddress.objects.create(user=user, email="ada@home.example", verified=True)
    refused = client.post("/accounts/password/set/", {"password1": PASSWORD, "password2": PASSWORD})
    assert "signs in with Example company" in refused.text
    user.set_password(PASSWORD)
    user.save()
    outside = Client()
    assert with_password(outside, "ada@home.example")["Location"] == LOGIN
    assert user_of(outside) is None


def test_member_connects_and_disconnects_an_issuer(issuer: FakeIssuer, client: Client, settings: Any):
    settings.ARENA_SSO = [issuer.settings(domains=[])]
    user = make.user("someone@home.example")
    with_password(client, user.email)
    confirm_identity(client)
    assert sign_in(client, issuer, CONNECT)["Location"] == CONNECTIONS
    assert SocialAccount.objects.get().user == user
    assert "ada@example.org" in client.get(CONNECTIONS).text
    assert client.post(DISCONNECT)["Location"] == CONNECTIONS
    assert not SocialAccount.objects.exists()
    assert set(AuditEntry.objects.values_list("action", flat=True)) == {"connect issuer", "disconnect issuer"}


def test_connecting_asks_for_the_password_again(issuer: FakeIssuer, settings: Any):
    settings.ARENA_SSO = [issuer.settings(domains=[])]
    browser = make.browser(make.member(email="someone@home.example"))
    assert browser.post(CONNECT)["Location"].startswith("/accounts/reauthenticate/")
    assert browser.post(DISCONNECT)["Location"].startswith("/accounts/reauthenticate/")


def test_connection_of_another_account_is_not_moved(issuer: FakeIssuer, client: Client, settings: Any):
    settings.ARENA_SSO = [issuer.settings(domains=[])]
    sign_in(Client(), issuer)
    owner = SocialAccount.objects.get().user
    with_password(client, make.user("someone@home.example").email)
    confirm_identity(client)
    sign_in(client, issuer, CONNECT)
    assert SocialAccount.objects.get().user == owner
    assert "already connected to a different account" in client.get(CONNECTIONS).text


def test_last_way_in_is_not_disconnected(issuer: FakeIssuer, client: Client, settings: Any):
    sign_in(client, issuer)
    refused = client.post(DISCONNECT)
    assert (refused.status_code, refused.context["error"].code) == (409, "last_way_in")
    user = User.objects.get()
    user.set_password(PASSWORD)  # of no use while the issuer owns the domain
    user.save()
    client.force_login(user)
    confirm_identity(client)
    assert client.post(DISCONNECT).context["error"].code == "last_way_in"
    assert SocialAccount.objects.exists()
    settings.ARENA_SSO = [issuer.settings(domains=[])]
    assert client.post(DISCONNECT).status_code == 302
    assert not SocialAccount.objects.exists()


@pytest.mark.parametrize(
    ("groups", "staff", "moderator"),
    [
        (["arena-staff"], True, False),
        ("arena-moderators", True, True),
        ([], False, False),
        (["Moderators"], False, False),
    ],
)
def test_named_groups_give_rights(
    issuer: FakeIssuer, client: Client, settings: Any, groups: Any, staff: bool, moderator: bool
):
    settings.ARENA_SSO = [issuer.settings(staff_group="arena-staff", moderators_group="arena-moderators")]
    issuer.person["groups"] = groups
    sign_in(client, issuer)
    user = User.objects.get()
    assert (user.is_staff, user.groups.filter(name=MODERATORS).exists(), user.is_superuser) == (staff, moderator, False)
    assert AuditEntry.objects.filter(action="rights of an issuer").count() == (staff or moderator)


def test_groups_give_a_blocked_account_no_rights(issuer: FakeIssuer, client: Client, settings: Any):
    settings.ARENA_SSO = [issuer.settings(staff_group="arena-staff", moderators_group="arena-moderators")]
    issuer.person["groups"] = ["arena-staff", "arena-moderators"]
    sign_in(Client(), issuer)
    Ban.objects.create(user=User.objects.get(), reason="Advertising.")
    sign_in(client, issuer)
    assert client.get("/admin/").status_code == 403


@pytest.mark.parametrize("groups", [[], ["arena-staff"]])
def test_deactivated_account_is_not_signed_in(issuer: FakeIssuer, client: Client, settings: Any, groups: list[str]):
    settings.ARENA_SSO = [issuer.settings(staff_group="arena-staff")]
    issuer.person["groups"] = groups
    sign_in(Client(), issuer)
    User.objects.update(is_active=False)
    sign_in(client, issuer)
    assert user_of(client) is None


def test_right_ends_with_the_group(issuer: FakeIssuer, settings: Any):
    settings.ARENA_SSO = [issuer.settings(moderators_group="arena-moderators")]
    issuer.person["groups"] = ["arena-moderators"]
    sign_in(Client(), issuer)
    issuer.person["groups"] = []
    sign_in(Client(), issuer)
    user = User.objects.get()
    assert (user.is_staff, list(user.groups.all())) == (False, [])
    entries = AuditEntry.objects.filter(action="rights of an issuer").order_by("pk")
    assert [entry.details["is_moderator"] for entry in entries] == [True, False]
    assert [entry.details["because"]["moderator"] for entry in entries] == ["contains", "lacks"]


def test_unnamed_groups_change_no_rights(issuer: FakeIssuer, client: Client):
    issuer.person["groups"] = ["arena-moderators", "Moderators", "staff", ""]
    staff = User.objects.create_user("ada@example.org", None, is_staff=True)
    staff.groups.add(Group.objects.get(name=MODERATORS))
    sign_in(client, issuer)
    staff.refresh_from_db()
    assert (staff.is_staff, staff.groups.count()) == (True, 1)
    issuer.person |= {"sub": "person-2", "email": "bob@example.org"}
    sign_in(Client(), issuer)
    bob = User.objects.get(email="bob@example.org")
    assert (bob.is_staff, bob.groups.count()) == (False, 0)


def test_administrator_keeps_rights_without_groups(issuer: FakeIssuer, client: Client, settings: Any):
    settings.ARENA_SSO = [issuer.settings(staff_group="arena-staff")]
    administrator = User.objects.create_user("ada@example.org", None, is_staff=True, is_superuser=True)
    sign_in(client, issuer)
    administrator.refresh_from_db()
    assert (administrator.is_staff, administrator.is_superuser) == (True, True)


def test_issuer_that_left_the_settings_breaks_no_page(issuer: FakeIssuer, client: Client, settings: Any):
    sign_in(client, issuer)
    settings.ARENA_SSO = []
    assert [client.get(path).status_code for path in (CONNECTIONS, "/accounts/email/", LOGIN)] == [200, 200, 302]
    admin = Client()
    admin.force_login(User.objects.create_superuser("root@home.example", PASSWORD))
    assert admin.get("/admin/socialaccount/socialaccount/").status_code == 200
    row = SocialAccount.objects.get()
    page = admin.get(f"/admin/socialaccount/socialaccount/{row.pk}/delete/")
    assert "Are you sure" in page.text
    admin.post(f"/admin/socialaccount/socialaccount/{row.pk}/delete/", {"post": "yes"})
    [entry] = AuditEntry.objects.filter(action="delete social account")
    assert entry.subject == f"user {row.user_id}: {issuer.url}"
    assert client.post(START).status_code == 404
