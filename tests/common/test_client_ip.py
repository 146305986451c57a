from datetime import UTC, datetime

import pytest
from django.test import RequestFactory

from common.client_ip import client_ip, client_networks, hash_month, network_hash, network_of


def ip_of_request(remote: str, forwarded: str | None = None) -> str:
    headers = {} if forwarded is None else {"X-Forwarded-For": forwarded}
    return client_ip(RequestFactory().get("/", REMOTE_ADDR=remote, headers=headers))


def test_forwarded_header_without_proxies_is_ignored(settings):
    settings.ARENA_TRUSTED_PROXIES = []
    assert ip_of_request("203.0.113.5", "1.2.3.4") == "203.0.113.5"


@pytest.mark.parametrize(
    ("remote", "forwarded", "expected"),
    [
        ("10.0.0.1", "198.51.100.7", "198.51.100.7"),
        ("10.0.0.1", "1.2.3.4, 198.51.100.7", "198.51.100.7"),
        ("10.0.0.1", "1.2.3.4, 198.51.100.7, 10.0.0.2", "198.51.100.7"),
        ("10.0.0.1", "10.0.0.3", "10.0.0.3"),
        ("10.0.0.1", None, "10.0.0.1"),
        ("10.0.0.1", " , ", "10.0.0.1"),
        ("203.0.113.5", "198.51.100.7", "203.0.113.5"),
        ("::ffff:10.0.0.1", "198.51.100.7", "198.51.100.7"),
        ("fd00::1", "2001:db8::7", "2001:db8::7"),
    ],
)
def test_client_ip_is_nearest_address_without_proxies(settings, remote, forwarded, expected):
    settings.ARENA_TRUSTED_PROXIES = ["10.0.0.0/8", "fd00::/8"]
    assert ip_of_request(remote, forwarded) == expected


def test_missing_remote_address_is_localhost():
    assert ip_of_request("") == "127.0.0.1"


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("198.51.100.7", "198.51.100.7"),
        ("2001:db8:1:2:aaaa::1", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff:ffff:ffff:ffff", "2001:db8:1:2::/64"),
        ("2001:db8:1:3::1", "2001:db8:1:3::/64"),
        ("::ffff:198.51.100.7", "198.51.100.7"),
        ("fe80::1%eth0", "fe80::/64"),
        ("nonsense", "unknown"),
        ("", "unknown"),
    ],
)
def test_network_is_ipv4_address_or_ipv6_64(address, network):
    assert network_of(address) == network


def hash_of(remote: str, month: str = "2026-11") -> str:
    return network_hash(RequestFactory().get("/", REMOTE_ADDR=remote), month)


def test_network_hash_is_equal_within_a_network():
    assert hash_of("2001:db8:1:2::7") == hash_of("2001:db8:1:2:ffff::1") != hash_of("2001:db8:1:3::7")
    assert hash_of("203.0.113.5") != hash_of("203.0.113.6")
    assert hash_month(hash_of("203.0.113.5")) == "2026-11"
    assert "203.0.113" not in hash_of("203.0.113.5")


def test_network_hash_differs_by_month_and_site(settings):
    november, december = hash_of("203.0.113.5"), hash_of("203.0.113.5", "2026-12")
    assert november.split(":")[1] != december.split(":")[1]
    settings.SECRET_KEY = "another site's"
    assert hash_of("203.0.113.5") != november


def test_network_hash_defaults_to_this_month(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("common.client_ip.timezone.now", lambda: datetime(2026, 12, 31, 23, 59, tzinfo=UTC))
    now = RequestFactory().get("/", REMOTE_ADDR="203.0.113.5")
    assert network_hash(now) == hash_of("203.0.113.5", "2026-12")


def test_network48_hash_is_equal_within_a_48():
    def hash48_of(remote: str) -> str:
        return client_networks(RequestFactory().get("/", REMOTE_ADDR=remote))["network48"]

    assert hash48_of("2001:db8:1:2::7") == hash48_of("2001:db8:1:ffff::7") != hash48_of("2001:db8:2:2::7")
    assert hash48_of("2001:db8:1:2::7") not in (hash_of("2001:db8:1:2::7", ""), "")
    assert hash48_of("203.0.113.5") == ""
