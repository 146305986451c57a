"""Moderators block no network that active staff come from."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.actor import Actor
from accounts.models import Ban, Scope, StaffNetwork, User
from arena_site.retention import purge
from common.client_ip import kept_months, keyed_hash, network_of
from tests import make

pytestmark = pytest.mark.django_db
HERE, THERE, SIX = "203.0.113.7", "198.51.100.9", "2001:db8:7:5::9"
PASSWORD = "a-good-password"


def hashed(address: str, month: str = "", *, prefix: int = 64) -> str:
    return keyed_hash(network_of(address, prefix=prefix), month)


def block(client: Client, network: str) -> bool:
    """Try to block a network in the administration; return whether it is blocked."""
    form = {"network": network, "reason": "Advertising.", "expires_at_0": "", "expires_at_1": ""}
    client.post("/admin/accounts/ban/add/", form)
    return Ban.objects.in_force().filter(network=network).exists()


@pytest.fixture
def at_work(moderator: User) -> Client:
    return make.browser(Actor(user=moderator), REMOTE_ADDR=HERE)


@pytest.fixture
def colleague() -> User:
    return make.user("colleague@example.org", is_staff=True)


def sign_in(colleague: User, address: str) -> None:
    Client(REMOTE_ADDR=address).post("/accounts/login/", {"login": colleague.email, "password": PASSWORD})


def use_token(colleague: User, address: str) -> None:
    header = make.bearer(colleague)
    assert Client(REMOTE_ADDR=address).get("/api/v1/me/", headers=header).status_code == 200


def use_gateway(colleague: User, address: str) -> None:
    header = make.bearer(colleague, scopes=[Scope.GATEWAY])
    assert Client(REMOTE_ADDR=address).get("/v1/models", headers=header).status_code == 200


def open_administration(colleague: User, address: str) -> None:
    assert make.browser(Actor(user=colleague), REMOTE_ADDR=address).get("/admin/").status_code == 200


WAYS = pytest.mark.parametrize("come", [sign_in, use_token, use_gateway, open_administration])


def test_own_network_is_not_blocked(at_work: Client):
    assert not block(at_work, hashed(HERE))
    assert block(at_work, hashed(THERE))


@WAYS
def test_network_that_staff_came_from_is_not_blocked(at_work: Client, administrator: User, colleague: User, come: Any):
    come(colleague, THERE)
    assert [block(at_work, hashed(THERE, month)) for month in kept_months()] == [False] * len(kept_months())
    assert block(at_work, hashed("198.51.100.10"))  # another address
    assert block(make.browser(Actor(user=administrator)), hashed(THERE))


@pytest.mark.parametrize("prefix", [64, 48])
def test_ipv6_network_of_staff_is_not_blocked(at_work: Client, colleague: User, prefix: int):
    sign_in(colleague, SIX)
    for neighbour in (SIX, "2001:db8:7:5:ffff::1") if prefix == 64 else (SIX, "2001:db8:7:ffff::1"):
        assert not block(at_work, hashed(neighbour, prefix=prefix))
    assert block(at_work, hashed("2001:db8:8::1", prefix=prefix))


def test_network_of_a_forgotten_month_needs_administrator(at_work: Client, administrator: User):
    assert not block(at_work, hashed(THERE, "2025-01"))
    assert block(make.browser(Actor(user=administrator)), hashed(THERE, "2025-01"))


@pytest.mark.parametrize("change", [{"is_active": False}, {"is_staff": False}])
def test_network_of_former_staff_is_blocked(at_work: Client, colleague: User, change: dict[str, bool]):
    sign_in(colleague, THERE)
    User.objects.filter(pk=colleague.pk).update(**change)
    assert block(at_work, hashed(THERE))


def test_block_of_network_signed_in_from_is_not_lifted(at_work: Client, moderator: User):
    sign_in(moderator, THERE)
    ban = Ban.objects.create(network=hashed(THERE), reason="Advertising.")
    at_work.post("/admin/accounts/ban/", {"action": "lift", "_selected_action": [ban.pk]})
    assert Ban.objects.in_force().exists()


@pytest.mark.parametrize("typed", [HERE, "203.0.113.0/24", "2001:db8::/48", "everyone"])
def test_address_is_not_taken_for_a_network(administrator: User, typed: str):
    assert not block(make.browser(Actor(user=administrator)), typed)


def test_networks_of_staff_only_are_kept_as_hashes(at_work: Client, colleague: User):
    member = make.user()
    sign_in(member, THERE)
    use_token(member, THERE)
    sign_in(colleague, SIX)
    assert set(StaffNetwork.objects.filter(user=colleague).values_list("network", flat=True)) == {
        hashed(SIX, month, prefix=prefix) for month in kept_months() for prefix in (48, 64)
    }
    assert not StaffNetwork.objects.filter(user=member).exists()


def test_networks_of_staff_are_forgotten(colleague: User):
    sign_in(colleague, THERE)
    today = timezone.now().date()
    StaffNetwork.objects.filter(network=hashed(THERE)).update(last_day=today - timedelta(days=61))
    before = StaffNetwork.objects.count()
    purge()
    assert StaffNetwork.objects.count() == before - 1
    colleague.delete()
    assert not StaffNetwork.objects.exists()
