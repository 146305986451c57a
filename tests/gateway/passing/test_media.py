"""Pictures and files at an address go only to providers that fetch from the internet."""

from collections.abc import Callable
from typing import Any

import httpx2
import pytest
from django.core.exceptions import ValidationError

from models_registry.catalogue.presets import PRESETS
from models_registry.models import Provider
from models_registry.providers.kinds import LOCAL_KINDS, ProviderKind
from tests import make
from tests.fake_provider import FakeProvider
from tests.gateway.test_bad_input import part

pytestmark = pytest.mark.django_db(transaction=True)
URL = "https://example.org/cat.png"
AT_AN_ADDRESS: dict[str, Any] = {
    "picture": {"type": "image_url", "image_url": {"url": URL}},
    "picture-as-text": {"type": "input_image", "image_url": URL},
    "video": {"type": "video_url", "video_url": {"url": URL}},
    "file": {"type": "file", "file": {"file_url": URL}},
    "source": {"type": "document", "source": {"type": "url", "url": URL}},
    "unknown": {"type": "hologram", "hologram": {"where": URL}},
}


@pytest.fixture
def send(address: str, token: str) -> Callable[..., httpx2.Response]:
    headers = {"Authorization": f"Bearer {token}"}

    def send(slug: str, medium: Any) -> httpx2.Response:
        body = {"model": slug, **part(medium)}
        return httpx2.post(f"{address}/v1/chat/completions", json=body, headers=headers, timeout=60)

    return send


@pytest.fixture
def hosted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the fake provider, which is on this machine, count as a hosted one."""
    monkeypatch.setattr(Provider, "is_local", False)


def test_addresses_go_only_to_providers_that_fetch(
    send: Callable[..., httpx2.Response], model: Callable[..., Any], fake_provider: FakeProvider, hosted: None,
    settings: Any,
):  # fmt: skip
    settings.ARENA_ROUTER = "battles.auto.port.heaviest_weight"
    slug = model(abilities=["images"]).slug
    for fetches in (False, True):
        Provider.objects.update(fetches_media=fetches)
        for asked in (slug, "auto"):
            for name, medium in AT_AN_ADDRESS.items():
                response = send(asked, medium)
                assert (name, response.status_code) == (name, 200 if fetches else 400), response.text
                if fetches:
                    assert fake_provider.requests[-1]["messages"][0]["content"][1] == medium
                else:
                    assert "data URL" in response.json()["error"]["message"]
    assert len(fake_provider.requests) == 2 * len(AT_AN_ADDRESS)


def test_auto_chooses_a_model_that_fetches(
    send: Callable[..., httpx2.Response], model: Callable[..., Any], fake_provider: FakeProvider, hosted: None,
    settings: Any,
):  # fmt: skip
    settings.ARENA_ROUTER = "battles.auto.port.heaviest_weight"
    model(abilities=["images"], weight=9)
    another_door = fake_provider.base_url.replace("/v1", "/b/v1")
    fetching = make.model(at=another_door, abilities=["images"])
    Provider.objects.filter(base_url=another_door).update(fetches_media=True)
    assert send("auto", AT_AN_ADDRESS["picture"]).headers["X-Arena-Model"] == fetching.slug


def test_local_servers_never_fetch(send: Callable[..., httpx2.Response], model: Callable[..., Any]):
    slug = model().slug
    Provider.objects.update(fetches_media=True)
    assert send(slug, AT_AN_ADDRESS["picture"]).status_code == 400
    addresses = ("http://10.0.0.1/v1", "http://localhost:8000/v1", "http://ollama:11434/v1", "${ARENA_LOCAL_MODEL_URL}")
    local = [Provider(base_url=address) for address in addresses]
    local += [Provider(base_url="https://gpu.example.org/v1", kind=kind) for kind in LOCAL_KINDS]
    for provider in local:
        provider.fetches_media = True
        assert not provider.may_fetch_media
        with pytest.raises(ValidationError):
            provider.clean()
    assert Provider(base_url="https://api.example.org/v1", kind=ProviderKind.OTHER, fetches_media=True).may_fetch_media


def test_presets_of_hosted_services_fetch():
    fetching = {key for key, preset in PRESETS.items() if preset.fetches_media}
    assert {"openai", "anthropic", "gemini", "openrouter", "azure"} <= fetching
    assert not fetching & {"ollama", "vllm", "llamacpp", "lmstudio", "sglang", "litellm", "other"}
