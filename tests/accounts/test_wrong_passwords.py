"""Nobody guesses for long, at whichever door, and nobody learns who has an account here."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
import redis
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from django.core import mail
from django.test import Client

from accounts import sign_in_limit
from accounts.models import ApiToken, Scope, User
from common.errors import TooManyRequests
from common.valkey import connection
from tests import make

pytestmark = pytest.mark.django_db
RIGHT, WRONG = "a-good-password", "a-wrong-password"
LOGIN = "/accounts/login/"


@pytest.fixture
def member() -> User:
    return make.user("someone@example.org")


def from_network(number: int) -> Client:
    return Client(REMOTE_ADDR=f"203.0.113.{number}")


def sign_in(client: Client, password: str, email: str = "someone@example.org", door: str = LOGIN) -> int:
    return client.post(door, {"login": email, "password": password}).status_code


@pytest.mark.parametrize("email", ["someone@example.org", "nobody@example.org"])
def test_after_five_wrong_passwords_an_address_has_to_wait_from_wherever(member: User, email: str):
    tries = [sign_in(from_network(number), WRONG, email) for number in range(6)]
    assert tries == [200, 200, 200, 200, 200, 429]
    assert sign_in(from_network(7), RIGHT, email) == 429
    refused = from_network(8).post(LOGIN, {"login": email, "password": RIGHT})
    assert 0 < int(refused["Retry-After"]) <= 900
    assert "Try again in" in refused.text


def test_a_known_and_an_unknown_address_get_the_same_answer(member: User):
    said = [
        from_network(1).post(LOGIN, {"login": email, "password": WRONG}).text.replace(email, "")
        for email in ("someone@example.org", "nobody@example.org")
    ]
    without_csrf = ["\n".join(line for line in text.splitlines() if "csrf" not in line) for text in said]
    assert without_csrf[0] == without_csrf[1]


def test_one_network_guesses_at_twenty_addresses_and_no_more(member: User):
    tries = [sign_in(from_network(1), WRONG, f"person{number}@example.org") for number in range(21)]
    assert tries == [200] * 20 + [429]
    assert sign_in(from_network(1), RIGHT) == 429
    assert sign_in(from_network(2), RIGHT) == 302


def test_a_network_of_ipv6_is_one_network(settings, member: User):
    settings.ARENA_LIMITS = settings.ARENA_LIMITS | {("signin", "network"): "2/hour"}
    same = [Client(REMOTE_ADDR=f"2001:db8:1:2::{number}") for number in range(1, 4)]
    assert [sign_in(client, WRONG, f"p{n}@example.org") for n, client in enumerate(same)] == [200, 200, 429]
    assert sign_in(Client(REMOTE_ADDR="2001:db8:1:3::1"), RIGHT) == 302


def test_right_passwords_are_not_counted(member: User):
    assert [sign_in(from_network(1), RIGHT) for _ in range(21)] == [302] * 21
    assert [sign_in(from_network(1), WRONG) for _ in range(4)] == [200] * 4
    assert sign_in(from_network(1), RIGHT) == 302
    assert [sign_in(from_network(1), WRONG) for _ in range(2)] == [200, 429]


def test_signing_in_again_before_something_grave_is_the_same_door(client: Client, member: User):
    sign_in(client, RIGHT)
    tries = [client.post("/accounts/reauthenticate/", {"password": WRONG}).status_code for _ in range(6)]
    assert tries == [200] * 5 + [429]
    assert sign_in(from_network(2), RIGHT) == 429


def test_two_hundred_at_once_are_five_tries(limits_are_known: None):
    barrier = Barrier(200)

    def race(number: int) -> bool:
        barrier.wait(30)
        try:
            sign_in_limit.count("someone@example.org", f"network {number}")
        except TooManyRequests:
            return False
        return True

    with ThreadPoolExecutor(200) as pool:
        assert Counter(pool.map(race, range(200))) == {True: 5, False: 195}


def test_a_new_password_by_e_mail_ends_the_wait(member: User):
    for number in range(6):
        sign_in(from_network(number), WRONG)
    visitor = from_network(20)
    visitor.post("/accounts/password/reset/", {"email": member.email})
    [link] = [word for word in mail.outbox[0].body.split() if "/password/reset/key/" in word]
    form = visitor.get(link, follow=True)
    visitor.post(form.redirect_chain[-1][0], {"password1": "another-password", "password2": "another-password"})
    assert sign_in(from_network(21), "another-password") == 302


def test_what_is_counted_names_no_address_and_no_network(member: User):
    sign_in(from_network(1), WRONG)
    Client(REMOTE_ADDR="203.0.113.9").get("/api/v1/me/", headers={"Authorization": "Bearer arena_guess"})
    names = [key if isinstance(key, str) else key.decode() for key in connection().keys("*")]
    assert names
    assert not [name for name in names if "203.0.113" in name or "example.org" in name]


def test_while_nobody_can_count_nobody_guesses(member: User, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("common.limits._limiter", lambda: (_ for _ in ()).throw(ConnectionError("away")))
    refused = from_network(1).post(LOGIN, {"login": member.email, "password": RIGHT})
    assert (refused.status_code, "Signing in is paused" in refused.text) == (503, True)


def test_accounts_are_made_so_often_from_one_network(settings):
    settings.ARENA_LIMITS = settings.ARENA_LIMITS | {("signup", "network"): "2/hour"}

    def sign_up(number: int, network: int = 1) -> int:
        form = {"email": f"new{number}@example.org", "password1": RIGHT}
        return from_network(network).post("/accounts/signup/", form).status_code

    assert [sign_up(number) for number in range(3)] == [302, 302, 429]
    assert sign_up(4, network=2) == 302
    assert User.objects.count() == 3


def test_whoever_tries_tokens_is_told_to_wait_and_a_right_one_still_works(settings, member: User):
    settings.ARENA_LIMITS = settings.ARENA_LIMITS | {("token", "network"): "3/hour"}
    client = from_network(1)

    def ask(token: str) -> int:
        return client.get("/api/v1/me/", headers={"Authorization": f"Bearer {token}"}).status_code

    assert [ask(f"arena_{number}") for number in range(4)] == [401, 401, 401, 429]
    _, token = ApiToken.issue(user=member, name="t", scopes=[Scope.READ])
    assert ask(token) == 200


def test_allauths_own_limits_answer_with_a_page_and_a_time(client: Client):
    asked = [client.post("/accounts/password/reset/", {"email": "someone@example.org"}) for _ in range(6)]
    assert asked[-1].status_code == 429
    assert asked[-1]["Retry-After"] == "60"


def test_after_five_wrong_second_factors_there_is_no_sixth_try(client: Client, member: User):
    TOTP.activate(member, generate_totp_secret())
    sign_in(client, RIGHT)
    said = [client.post("/accounts/2fa/authenticate/", {"code": f"{number:06d}"}).text for number in range(6)]
    assert ["Too many failed login attempts" in text for text in said] == [False] * 5 + [True]


def test_while_valkey_is_away_what_allauth_counts_waits_too(client: Client, monkeypatch: pytest.MonkeyPatch):
    class Away:
        def __getattr__(self, name: str) -> None:
            raise redis.ConnectionError("away")

    monkeypatch.setattr("allauth.core.internal.ratelimit.cache", Away())
    refused = client.post("/accounts/password/reset/", {"email": "someone@example.org"})
    assert (refused.status_code, refused["Retry-After"]) == (503, "5")
