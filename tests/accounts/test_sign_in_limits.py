"""Limits on guessing credentials; responses do not show which accounts exist."""

from collections import Counter

import pytest
import redis
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from django.core import mail
from django.test import Client, RequestFactory

from accounts.models import Scope, User
from accounts.sign_in import rate_limit
from common.errors import TooManyRequests
from common.valkey.connections import connection
from common.valkey.limits import counting
from tests import make
from tests.concurrency import race

pytestmark = pytest.mark.django_db
RIGHT, WRONG = "a-good-password", "a-wrong-password"
LOGIN = "/accounts/login/"


@pytest.fixture
def member() -> User:
    return make.user("someone@example.org")


def from_network(number: int) -> Client:
    return Client(REMOTE_ADDR=f"203.0.113.{number}")


def reset_password(client: Client, member: User) -> None:
    client.post("/accounts/password/reset/", {"email": member.email})
    [link] = [word for word in mail.outbox[0].body.split() if "/password/reset/key/" in word]
    form = client.get(link, follow=True)
    client.post(form.redirect_chain[-1][0], {"password1": "another-password", "password2": "another-password"})


def sign_in(client: Client, password: str, email: str = "someone@example.org") -> int:
    return client.post(LOGIN, {"login": email, "password": password}).status_code


@pytest.mark.parametrize("email", ["someone@example.org", "unknown@example.org"])
def test_sixth_wrong_password_from_one_network_is_refused(member: User, email: str):
    tries = [sign_in(from_network(1), WRONG, email) for _ in range(6)]
    assert tries == [200, 200, 200, 200, 200, 429]
    refused = from_network(1).post(LOGIN, {"login": email, "password": RIGHT})
    assert (refused.status_code, 0 < int(refused["Retry-After"]) <= 900) == (429, True)
    assert "Try again in" in refused.text
    assert sign_in(from_network(2), WRONG, email) == 200


@pytest.mark.slow
@pytest.mark.parametrize("is_staff", [False, True])
def test_failures_elsewhere_do_not_lock_the_owner_out(is_staff: bool):
    make.user("owner@example.org", is_staff=is_staff, is_superuser=is_staff)
    tries = [sign_in(from_network(number), WRONG, "owner@example.org") for number in range(5) for _ in range(5)]
    assert tries == [200] * 25
    assert sign_in(from_network(9), RIGHT, "owner@example.org") == 302


@pytest.mark.slow
@pytest.mark.parametrize("email", ["someone@example.org", "unknown@example.org"])
def test_address_has_a_wider_limit_over_all_networks(settings, member: User, email: str):
    settings.ARENA_LIMITS = settings.ARENA_LIMITS | {("signin", "address"): "12/15 minutes"}
    tries = [sign_in(from_network(number), WRONG, email) for number in range(13)]
    assert tries == [200] * 12 + [429]
    assert sign_in(from_network(20), RIGHT, email) == 429


def test_browser_that_signed_in_before_is_not_locked_out(settings, member: User):
    settings.ARENA_LIMITS = settings.ARENA_LIMITS | {
        ("signin", "address"): "3/hour", ("signin", "network"): "3/hour", ("signin", "network48"): "3/hour",
    }  # fmt: skip
    owner = from_network(1)
    assert sign_in(owner, RIGHT) == 302
    owner.post("/accounts/logout/")
    assert [sign_in(from_network(1), WRONG) for _ in range(4)] == [200] * 3 + [429]
    assert sign_in(from_network(1), RIGHT) == 429
    assert sign_in(owner, RIGHT) == 302


def test_device_cookie_has_its_own_limit_of_five(member: User):
    owner = from_network(1)
    sign_in(owner, RIGHT)
    owner.post("/accounts/logout/")
    assert [sign_in(owner, WRONG) for _ in range(6)] == [200] * 5 + [429]
    assert sign_in(from_network(1), RIGHT) == 302


def device_cookies(client: Client) -> dict[str, str]:
    return {name: cookie.value for name, cookie in client.cookies.items() if cookie.value and "arena_device" in name}


def with_cookies(cookies: dict[str, str]) -> Client:
    client = from_network(1)
    client.cookies.load(cookies)
    return client


def test_foreign_or_forged_device_cookie_is_ignored(settings, member: User):
    settings.ARENA_LIMITS = settings.ARENA_LIMITS | {("signin", "address"): "1/hour"}
    make.user("other@example.org")
    mine, other = from_network(1), from_network(1)
    sign_in(mine, RIGHT)
    sign_in(other, RIGHT, "other@example.org")
    [(name, value)], [foreign] = device_cookies(mine).items(), device_cookies(other).values()
    sign_in(from_network(2), WRONG)
    for forged in (foreign, "x" + value, value[:-1]):
        assert sign_in(with_cookies({name: forged}), RIGHT) == 429
    assert sign_in(with_cookies({name: value}), RIGHT) == 302


def test_device_cookie_ends_with_the_password(settings, member: User):
    settings.ARENA_LIMITS = settings.ARENA_LIMITS | {("signin", "address"): "1/hour"}
    thief = from_network(1)
    sign_in(thief, RIGHT)
    member.set_password("another-password")
    member.save()
    assert [sign_in(with_cookies(device_cookies(thief)), WRONG) for _ in range(2)] == [200, 429]


def test_device_cookie_does_not_authenticate(member: User):
    owner = from_network(1)
    sign_in(owner, RIGHT)
    assert with_cookies(device_cookies(owner)).get("/accounts/tokens/").status_code == 302


def test_password_reset_grants_a_device_cookie(settings, member: User):
    settings.ARENA_LIMITS = settings.ARENA_LIMITS | {("signin", "address"): "3/hour"}
    owner = from_network(20)
    reset_password(owner, member)
    assert [sign_in(from_network(number), WRONG) for number in range(4)] == [200] * 3 + [429]
    assert sign_in(owner, "another-password") == 302


@pytest.mark.slow
def test_browser_keeps_the_newest_ten_device_cookies(client: Client):
    emails = [make.user(f"pupil{number}@example.org").email for number in range(12)]
    for email in emails:
        sign_in(client, RIGHT, email)
        client.post("/accounts/logout/")
    cookies = device_cookies(client)
    sign_in(client, RIGHT, emails[-1])
    assert len(cookies) == 10
    assert nonces(device_cookies(client)) == nonces(cookies)


def nonces(cookies: dict[str, str]) -> dict[str, str]:
    return {name: value.split(":")[0] for name, value in cookies.items()}


def test_known_and_unknown_address_get_the_same_response(member: User):
    pages = [
        from_network(1).post(LOGIN, {"login": email, "password": WRONG}).text.replace(email, "")
        for email in ("someone@example.org", "unknown@example.org")
    ]
    without_csrf = ["\n".join(line for line in text.splitlines() if "csrf" not in line) for text in pages]
    assert without_csrf[0] == without_csrf[1]


@pytest.mark.slow
def test_network_has_limit_over_all_addresses(settings, member: User):
    settings.ARENA_LIMITS = settings.ARENA_LIMITS | {("signin", "network"): "20/15 minutes"}
    tries = [sign_in(from_network(1), WRONG, f"person{number}@example.org") for number in range(21)]
    assert tries == [200] * 20 + [429]
    assert sign_in(from_network(1), RIGHT) == 429
    assert sign_in(from_network(2), RIGHT) == 302


def test_addresses_of_ipv6_network_share_a_limit(settings, member: User):
    settings.ARENA_LIMITS = settings.ARENA_LIMITS | {("signin", "network"): "2/hour"}
    same = [Client(REMOTE_ADDR=f"2001:db8:1:2::{number}") for number in range(1, 4)]
    assert [sign_in(client, WRONG, f"p{n}@example.org") for n, client in enumerate(same)] == [200, 200, 429]
    assert sign_in(Client(REMOTE_ADDR="2001:db8:1:3::1"), RIGHT) == 302


@pytest.mark.slow
def test_right_passwords_are_not_counted(member: User):
    assert [sign_in(from_network(1), RIGHT) for _ in range(21)] == [302] * 21
    assert [sign_in(from_network(1), WRONG) for _ in range(4)] == [200] * 4
    assert sign_in(from_network(1), RIGHT) == 302
    assert [sign_in(from_network(1), WRONG) for _ in range(2)] == [200, 429]


@pytest.mark.slow
def test_forty_people_of_network_may_each_fail_twice():
    tries = [sign_in(from_network(1), WRONG, f"pupil{number}@example.org") for number in range(40) for _ in range(2)]
    assert tries == [200] * 80


def test_reauthentication_has_the_same_limit(client: Client, member: User):
    sign_in(client, RIGHT)
    tries = [client.post("/accounts/reauthenticate/", {"password": WRONG}).status_code for _ in range(6)]
    assert tries == [200] * 5 + [429]


def test_race_of_two_hundred_attempts_lets_five_pass(limits_are_known: None):
    request = RequestFactory().post(LOGIN)

    def is_counted(_: int) -> bool:
        try:
            rate_limit.count(rate_limit.attempt_keys(request, "someone@example.org"))
        except TooManyRequests:
            return False
        return True

    assert Counter(race(is_counted, range(200))) == {True: 5, False: 195}


def test_password_reset_by_email_resets_the_limit(settings, member: User):
    settings.ARENA_LIMITS = settings.ARENA_LIMITS | {("signin", "address"): "5/15 minutes"}
    assert [sign_in(from_network(number), WRONG) for number in range(6)] == [200] * 5 + [429]
    reset_password(from_network(20), member)
    assert sign_in(from_network(21), "another-password") == 302


def test_valkey_keys_hold_no_address_or_network(member: User):
    sign_in(from_network(1), WRONG)
    Client(REMOTE_ADDR="203.0.113.9").get("/api/v1/me/", headers={"Authorization": "Bearer arena_guess"})
    names = [key if isinstance(key, str) else key.decode() for key in connection().keys("*")]
    assert names
    assert not [name for name in names if "203.0.113" in name or "example.org" in name]


def test_sign_in_without_valkey_returns_503(member: User, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(counting, "_script", lambda _: (_ for _ in ()).throw(ConnectionError("away")))
    refused = from_network(1).post(LOGIN, {"login": member.email, "password": RIGHT})
    assert (refused.status_code, "Signing in is temporarily unavailable" in refused.text) == (503, True)


@pytest.mark.usefixtures("limits_are_slow_once")
def test_slow_reply_of_valkey_refuses_no_sign_in(member: User):
    assert [sign_in(from_network(number), RIGHT) for number in range(3)] == [302] * 3


@pytest.mark.usefixtures("no_valkey")
def test_wrong_token_without_valkey_returns_503(member: User):
    def ask(token: str) -> int:
        return from_network(1).get("/api/v1/me/", headers={"Authorization": f"Bearer {token}"}).status_code

    assert [ask(f"arena_{number}") for number in range(3)] == [503] * 3
    assert ask(make.token(member, scopes=[Scope.READ])) == 200


def test_sign_ups_per_network_are_limited(settings):
    settings.ARENA_LIMITS = settings.ARENA_LIMITS | {("signup", "network"): "2/hour"}

    def sign_up(number: int, network: int = 1) -> int:
        form = {"email": f"new{number}@example.org", "password1": RIGHT}
        return from_network(network).post("/accounts/signup/", form).status_code

    assert [sign_up(number) for number in range(3)] == [302, 302, 429]
    assert sign_up(4, network=2) == 302
    assert User.objects.count() == 3


def test_guessed_tokens_are_limited_and_valid_one_works(settings, member: User):
    settings.ARENA_LIMITS = settings.ARENA_LIMITS | {("token", "network"): "3/hour"}
    client = from_network(1)

    def ask(token: str) -> int:
        return client.get("/api/v1/me/", headers={"Authorization": f"Bearer {token}"}).status_code

    assert [ask(f"arena_{number}") for number in range(4)] == [401, 401, 401, 429]
    token = make.token(member, scopes=[Scope.READ])
    assert ask(token) == 200


def test_limit_of_allauth_returns_retry_after(client: Client):
    responses = [client.post("/accounts/password/reset/", {"email": "someone@example.org"}) for _ in range(6)]
    assert responses[-1].status_code == 429
    assert responses[-1]["Retry-After"] == "60"


def test_sixth_wrong_second_factor_is_refused(client: Client, member: User):
    TOTP.activate(member, generate_totp_secret())
    sign_in(client, RIGHT)
    pages = [client.post("/accounts/2fa/authenticate/", {"code": f"{number:06d}"}).text for number in range(6)]
    assert ["Too many failed login attempts" in text for text in pages] == [False] * 5 + [True]


def test_limit_of_allauth_without_valkey_returns_503(client: Client, monkeypatch: pytest.MonkeyPatch):
    class Away:
        def __getattr__(self, name: str) -> None:
            raise redis.ConnectionError("away")

    monkeypatch.setattr("allauth.core.internal.ratelimit.cache", Away())
    refused = client.post("/accounts/password/reset/", {"email": "someone@example.org"})
    assert (refused.status_code, refused["Retry-After"]) == (503, "5")
