"""Access to /metrics: by token, from a network, never through a proxy."""

from typing import Any

import pytest
from django.test import Client


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("address", "headers", "status"),
    [
        ("127.0.0.1", {}, 200),
        ("::1", {}, 200),
        ("10.1.2.3", {}, 404),
        ("198.51.100.7", {}, 404),
        ("127.0.0.1", {"X-Forwarded-For": "127.0.0.1"}, 404),  # an untrusted proxy
        ("198.51.100.7", {"Authorization": "Bearer monitoring-token"}, 200),
        ("198.51.100.7", {"Authorization": "Bearer another-token"}, 404),
    ],
)
def test_metrics_need_network_or_token(
    client: Client, settings: Any, address: str, headers: dict[str, str], status: int
):
    settings.ARENA_METRICS_TOKEN = "monitoring-token"
    assert client.get("/metrics", headers=headers, REMOTE_ADDR=address).status_code == status


PRIVATE = "10.0.0.0/8,172.16.0.0/12,192.168.0.0/16"
LOOPBACK = "127.0.0.0/8,::1/128"
FORWARDING_HEADERS = (
    "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "Forwarded", "X-Real-IP", "Via", "CF-Connecting-IP",
    "CF-Ray", "True-Client-IP", "X-Client-IP", "X-Cluster-Client-IP", "Fly-Client-IP", "Fastly-Client-IP",
    "X-Remote-Addr",
    "X-Envoy-External-Address", "X-Original-Forwarded-For", "X-Amzn-Trace-Id", "CDN-Loop", "Proxy-Connection",
)  # fmt: skip


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("topology", "proxies", "networks", "address", "headers"),
    [
        ("one nginx", "127.0.0.1", LOOPBACK, "127.0.0.1", {"X-Forwarded-For": "198.51.100.7"}),
        ("two, each with the documented snippet", "127.0.0.1", LOOPBACK, "127.0.0.1", {"X-Forwarded-For": "127.0.0.1"}),
        ("two machines", "10.0.0.0/8", PRIVATE, "10.0.0.2", {"X-Forwarded-For": "10.0.0.1"}),
        ("the outer one adds to the list", PRIVATE, PRIVATE, "10.0.0.2", {"X-Forwarded-For": "198.51.100.7, 10.0.0.1"}),
        ("an ingress that sees nodes", PRIVATE, PRIVATE, "10.42.0.9", {"X-Forwarded-For": "10.0.0.5"}),
        ("a client in a metrics network", "10.0.0.1", PRIVATE, "10.0.0.1", {"X-Forwarded-For": "192.168.0.7"}),
        ("a TCP tunnel from a proxy's machine", "127.0.0.1", LOOPBACK, "127.0.0.1", {}),
        ("a node port", PRIVATE, PRIVATE, "10.0.0.5", {}),
        ("a TCP tunnel over IPv6", "::1,127.0.0.1", LOOPBACK, "::1", {}),
        ("an IPv4 address in IPv6", "127.0.0.1", LOOPBACK, "::ffff:127.0.0.1", {}),
        ("a socket without an address", "", LOOPBACK, "", {}),
        *((f"an unnamed proxy, {name}", "", LOOPBACK, "127.0.0.1", {name: "x"}) for name in FORWARDING_HEADERS),
    ],
    ids=lambda value: value.replace(" ", "-") if isinstance(value, str) and " " in value else "",
)  # fmt: skip
def test_only_token_opens_metrics_through_a_proxy(
    client: Client, settings: Any, topology: str, proxies: str, networks: str, address: str, headers: dict[str, str]
):
    settings.ARENA_TRUSTED_PROXIES = proxies.split(",") if proxies else []
    settings.ARENA_METRICS_NETWORKS = networks.split(",")
    settings.ARENA_METRICS_TOKEN = "monitoring-token"
    assert client.get("/metrics", headers=headers, REMOTE_ADDR=address).status_code == 404
    with_token = {**headers, "Authorization": "Bearer monitoring-token"}
    assert client.get("/metrics", headers=with_token, REMOTE_ADDR=address).status_code == 200


@pytest.mark.django_db
def test_direct_client_beside_proxies_opens_metrics(client: Client, settings: Any):
    settings.ARENA_TRUSTED_PROXIES, settings.ARENA_METRICS_NETWORKS = ["10.0.0.1"], ["10.0.0.0/8"]
    assert client.get("/metrics", REMOTE_ADDR="10.0.0.2").status_code == 200


@pytest.mark.django_db
def test_empty_metrics_token_opens_nothing(client: Client, settings: Any):
    settings.ARENA_METRICS_TOKEN = ""
    assert client.get("/metrics", headers={"Authorization": "Bearer "}, REMOTE_ADDR="8.8.8.8").status_code == 404
