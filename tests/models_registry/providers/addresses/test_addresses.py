"""Every connection checks the address that it uses."""

import asyncio
import socket

import pytest
from django.core.exceptions import ValidationError
from django.test import Client

from common.network_zones import zone_of, zone_of_url
from models_registry.health.reachability import probe_keyless_providers
from models_registry.models import LanguageModel, Provider
from models_registry.providers import ChatRequest
from models_registry.providers.openai_compatible import OpenAICompatible
from models_registry.validators import validate_endpoint
from tests import make
from tests.fake_provider import FakeProvider
from tests.models_registry.providers.addresses.calling import call, calls

FORBIDDEN = [
    "169.254.169.254", "169.254.1.1", "fe80::1", "fe80::1%eth0", "fd00:ec2::254", "100.100.100.200", "168.63.129.16",
    "192.0.0.192", "0.0.0.0", "0.1.2.3", "::", "224.0.0.1", "ff02::1", "255.255.255.255", "240.0.0.1",
    "::ffff:169.254.169.254", "::a9fe:a9fe", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::1",
]  # fmt: skip
PRIVATE = [
    "127.0.0.1", "127.1.2.3", "::1", "10.0.0.1", "172.16.0.1", "192.168.1.2", "100.64.0.1", "fd12::1", "fec0::1",
    "::ffff:10.0.0.1", "::ffff:127.0.0.1", "64:ff9b::c0a8:102", "2002:7f00:1::1",
]  # fmt: skip
PUBLIC = ["8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1", "::ffff:8.8.8.8", "64:ff9b::808:808"]


@pytest.mark.parametrize(
    ("address", "zone"),
    [(address, "forbidden") for address in FORBIDDEN]
    + [(address, "private") for address in PRIVATE]
    + [(address, "public") for address in PUBLIC],
)
def test_address_is_in_its_zone_in_every_notation(address: str, zone: str):
    assert zone_of(address) == zone
    assert zone_of_url(f"http://[{address}]/v1" if ":" in address else f"http://{address}:80/v1") == zone


def test_url_with_name_has_no_zone():
    assert zone_of_url("https://api.example.com/v1") is None
    assert zone_of_url("http://localhost:11434/v1") == zone_of_url("http://ollama.localhost./v1") == "private"


@pytest.mark.parametrize("host", ["169.254.169.254", "[fe80::1]", "[::ffff:169.254.169.254]", "0.0.0.0"])
def test_provider_with_forbidden_address_is_refused(host: str, settings):
    settings.ARENA_ALLOW_PRIVATE_PROVIDERS = True
    with pytest.raises(ValidationError, match="This address is not allowed for a provider"):
        validate_endpoint(f"http://{host}:8000/v1")


@pytest.mark.parametrize(("allowed", "outcome"), [(True, "one two "), (False, "address_refused")])
def test_private_address_is_called_only_if_allowed(allowed: bool, outcome: str, fake_provider: FakeProvider, settings):
    settings.ARENA_ALLOW_PRIVATE_PROVIDERS = allowed
    assert call(fake_provider.base_url) == outcome
    assert fake_provider.calls.total() == (1 if allowed else 0)


@pytest.mark.parametrize("of_site", [True, False])
def test_private_address_of_a_team_needs_its_own_permission(of_site: bool, fake_provider: FakeProvider, settings):
    settings.ARENA_ALLOW_PRIVATE_PROVIDERS = of_site
    settings.ARENA_LOCAL_MODEL_URL = fake_provider.base_url

    assert calls(fake_provider.base_url, True, None, False) == ["one two ", "one two ", "address_refused"]


def test_embedded_model_is_called_at_private_address(fake_provider: FakeProvider, settings):
    settings.ARENA_ALLOW_PRIVATE_PROVIDERS = False
    settings.ARENA_LOCAL_MODEL_URL = fake_provider.base_url
    assert call(fake_provider.base_url) == "one two "


def test_local_model_is_called_by_name_in_private_network(fake_provider: FakeProvider, names, settings):
    """The URL in containers is http://local-model:8080/v1, at an address of their network."""
    settings.ARENA_ALLOW_PRIVATE_PROVIDERS = False
    settings.ARENA_LOCAL_MODEL_URL = f"http://local-model:{fake_provider.port}/v1"
    names("127.0.0.1")
    assert call(settings.ARENA_LOCAL_MODEL_URL) == "one two "
    assert call(f"http://another-name:{fake_provider.port}/v1") == "address_refused"


def test_name_with_private_address_is_not_called(fake_provider: FakeProvider, names, settings):
    settings.ARENA_ALLOW_PRIVATE_PROVIDERS = False
    names("127.0.0.1")
    assert call(f"http://api.example.com:{fake_provider.port}/v1") == "address_refused"
    assert not fake_provider.calls


def test_forbidden_address_is_never_called(names, settings):
    settings.ARENA_ALLOW_PRIVATE_PROVIDERS = True
    names("169.254.169.254")
    assert call("http://api.example.com/v1") == "address_refused"
    assert call("http://169.254.169.254/v1") == "address_refused"


def test_name_with_changed_address_is_not_called(fake_provider: FakeProvider, names, settings):
    """DNS rebinding: a check before the connection would have seen another address."""
    settings.ARENA_ALLOW_PRIVATE_PROVIDERS = False
    requested = names("8.8.8.8", "127.0.0.1")
    url = f"http://rebinding.example:{fake_provider.port}/v1"
    assert socket.getaddrinfo("rebinding.example", fake_provider.port)[0][4][0] == "8.8.8.8"
    assert call(url) == "address_refused"
    assert requested == ["rebinding.example", "rebinding.example"]
    assert not fake_provider.calls


def test_name_with_several_addresses_uses_only_allowed_ones(fake_provider: FakeProvider, names, settings):
    settings.ARENA_ALLOW_PRIVATE_PROVIDERS = True
    names("169.254.169.254 127.0.0.1")
    assert call(f"http://two.example:{fake_provider.port}/v1") == "one two "
    settings.ARENA_ALLOW_PRIVATE_PROVIDERS = False
    assert call(f"http://two.example:{fake_provider.port}/v1") == "address_refused"


def test_provider_allows_101_concurrent_calls(fake_provider: FakeProvider):
    started: set[int] = set()

    async def call_all() -> None:
        provider, all_started = OpenAICompatible(), asyncio.Event()

        async def call_one(number: int) -> None:
            deadlines = dict.fromkeys(("connect", "first", "idle", "total"), 60.0)
            messages = [{"role": "user", "content": "one two three"}]

            def receive(text: str, reasoning: str) -> float:
                started.add(number)
                if len(started) == 101:
                    all_started.set()
                return 0.0

            await provider.stream(
                ChatRequest(fake_provider.base_url, "", "hang-after-1", messages, {}, deadlines), receive
            )

        calls = [asyncio.create_task(call_one(number)) for number in range(101)]
        await asyncio.wait([asyncio.create_task(all_started.wait())], timeout=20)
        for running in calls:
            running.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        await provider.close()

    asyncio.run(call_all())
    assert len(started) == 101


@pytest.mark.django_db
def test_keyless_server_with_refused_address_is_not_probed(fake_provider: FakeProvider, settings):
    settings.ARENA_ALLOW_PRIVATE_PROVIDERS = False
    provider = make.provider(fake_provider.base_url, is_answering=True)
    assert probe_keyless_providers() == {fake_provider.base_url}
    provider.refresh_from_db()
    assert not provider.is_answering


@pytest.mark.django_db
def test_refused_private_address_is_explained_in_admin(client: Client, settings):
    client.force_login(make.user("admin@example.org", is_staff=True, is_superuser=True))
    make.model(at="http://192.168.1.9:8000/v1")
    settings.ARENA_ALLOW_PRIVATE_PROVIDERS = False
    assert LanguageModel.objects.drawable() == []
    assert "Its address is in a private network" in client.get("/admin/models_registry/languagemodel/").content.decode()
    form = {"name": "LAN", "base_url": "http://10.0.0.7/v1"}
    page = client.post("/admin/models_registry/provider/add/", form).content.decode()
    assert "ARENA_ALLOW_PRIVATE_PROVIDERS would allow it" in page
    settings.ARENA_ALLOW_PRIVATE_PROVIDERS = True
    client.post("/admin/models_registry/provider/add/", form)
    assert Provider.objects.filter(name="LAN").exists()
