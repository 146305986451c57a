"""Fields that must not leave the arena, tried against an upstream that records what arrives."""

import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from models_registry.models import Provider
from models_registry.providers.kinds import ProviderKind
from tests.fake_provider import FakeProvider
from tests.gateway.software import ASKED, WEATHER

pytestmark = pytest.mark.django_db(transaction=True)
# Stands in every value that must not arrive.
EVIL = "evil-7c1"
EVIL_URL = f"https://{EVIL}.example.org/x"
# Dropped whole, and named.
DROPPED: dict[str, Any] = {
    # Addresses and keys.
    "base_url": EVIL_URL, "api_base": EVIL_URL, "api_key": EVIL, "apiKey": EVIL, "key": EVIL, "organization": EVIL,
    "project": EVIL, "authorization": EVIL, "headers": {"X-Evil": EVIL}, "extra_headers": {"X-Evil": EVIL},
    "extra_body": {"model": EVIL}, "extra_query": {"a": EVIL}, "endpoint": EVIL_URL, "host": EVIL, "proxy": EVIL_URL,
    "webhook": EVIL_URL, "callback_url": EVIL_URL, "http_client": EVIL, "openai_api_key": EVIL, "aws_region": EVIL,
    # Other models, routes, plug-ins, service classes.
    "models": [EVIL], "model_id": EVIL, "fallback_model": EVIL, "fallbacks": [EVIL], "route": EVIL,
    "provider": {"order": [EVIL]}, "providers": [EVIL], "plugins": [{"id": EVIL}], "transforms": [EVIL],
    "service_tier": EVIL, "deployment": EVIL, "engine": EVIL, "lora": [{"id": 0, "scale": EVIL}], "adapter_id": EVIL,
    "speculative_model": EVIL, "draft_model": EVIL, "preset": EVIL, "debug": {"echo_upstream_body": EVIL},
    # Things stored at the provider.
    "store": True, "previous_response_id": EVIL, "conversation": EVIL, "conversation_id": EVIL, "assistant_id": EVIL,
    "thread_id": EVIL, "container": EVIL, "file_id": EVIL, "file_ids": [EVIL], "vector_store_ids": [EVIL],
    "cached_content": EVIL, "prompt": {"id": EVIL}, "agent_id": EVIL, "session": EVIL, "session_id": EVIL,
    "background": True, "prompt_cache_retention": EVIL, "cache_salt": EVIL, "id_slot": 7, "request_id": EVIL,
    "include": [EVIL], "truncation": EVIL,
    # Tools, searches and sources of the provider.
    "web_search_options": {"search_context_size": EVIL}, "search_parameters": {"mode": EVIL}, "web_search": EVIL,
    "enable_search": True, "search_settings": {"a": EVIL}, "documents": [{"text": EVIL}], "mcp_servers": [EVIL],
    "connectors": [{"id": EVIL}], "compound_custom": {"a": EVIL}, "data_sources": [{"endpoint": EVIL_URL}],
    "enable_code_interpreter": True, "safety_settings": [EVIL], "moderation": EVIL,
    # Higher costs than the reservation, and harm to others at the same server.
    "max_output_tokens": 999_999, "max_new_tokens": 999_999, "max_length": 999_999, "n_predict": 999_999,
    "num_predict": 999_999, "options": {"num_predict": 999_999, "x": EVIL}, "best_of": 9, "use_beam_search": True,
    "num_beams": 9, "n_choices": 9, "echo": True, "prompt_logprobs": 9, "priority": -9, "keep_alive": EVIL,
    "audio": {"voice": EVIL, "format": "wav"}, "max_tool_calls": 999,
    # Settings of the server.
    "chat_template": EVIL, "kv_transfer_params": {"remote_host": EVIL}, "mm_processor_kwargs": {"a": EVIL},
    "media_io_kwargs": {"a": EVIL}, "vllm_xargs": {"a": EVIL}, "guided_decoding_backend": EVIL, "raw": EVIL,
    "custom_params": {"a": EVIL}, "logits_processors": [EVIL], "allowed_local_media_path": EVIL,
    # Names of the arena's own.
    "arena": EVIL, "__class__": EVIL, "$ref": EVIL_URL, "": EVIL, "constructor": EVIL, "a" * 500: EVIL,
}  # fmt: skip
# Cleaned: what may arrive of them, None for nothing.
CLEANED: dict[str, tuple[Any, Any]] = {
    "reasoning": ({"effort": "low", "url": EVIL_URL, "model": EVIL}, {"effort": "low"}),
    "thinking": (
        {"type": "enabled", "budget_tokens": 100, "callback": EVIL_URL}, {"type": "enabled", "budget_tokens": 100},
    ),
    "chat_template_kwargs": ({"enable_thinking": False, "chat_template": EVIL}, {"enable_thinking": False}),
    "verbosity": (EVIL_URL, None),
    "temperature": ({"url": EVIL_URL}, None),
    "modalities": (["text", "audio"], None),
    "samplers": (["top_k", EVIL_URL], ["top_k"]),
    "logit_bias": ({"50256": -100, EVIL_URL: 1}, {"50256": -100}),
    "top_k": (f"//{EVIL}.org", None),
    "seed": (f"file:{EVIL}", None),
    "user": (EVIL, None),
    "safety_identifier": (EVIL, None),
    "prompt_cache_key": (EVIL, None),
    "metadata": ({"session_id": EVIL, "x": EVIL}, None),
    "stream_options": ({"include_obfuscation": True, "x": EVIL}, {"include_usage": True}),
    "n": (1, None),
    "tools": (
        [WEATHER, {"type": "web_search", "x": EVIL}, {"type": "mcp", "server_url": EVIL_URL}, {"type": "code"}],
        [WEATHER],
    ),
}  # fmt: skip
# Fields of every request.
USUAL = {"model", "messages", "stream", "stream_options", "max_tokens", "max_completion_tokens"}


@pytest.fixture
def send(address: str, token: str) -> Callable[..., httpx2.Response]:
    def send(slug: str, **body: Any) -> httpx2.Response:
        headers = {
            "Authorization": f"Bearer {token}", "X-Evil": EVIL, "OpenAI-Organization": EVIL, "X-Title": EVIL,
            "HTTP-Referer": EVIL, "User-Agent": EVIL, "Cookie": f"a={EVIL}", "anthropic-beta": EVIL,
        }  # fmt: skip
        body = {"model": slug, "messages": ASKED, **body}
        return httpx2.post(f"{address}/v1/chat/completions", json=body, headers=headers, timeout=60)

    return send


@pytest.fixture(autouse=True)
def _router(settings: Any) -> None:
    settings.ARENA_ROUTER = "battles.auto.port.heaviest_weight"


def named_in(response: httpx2.Response) -> str:
    return response.headers.get("X-Arena-Dropped", "")


def test_hostile_fields_are_dropped_and_named(
    send: Callable[..., httpx2.Response], model: Callable[..., Any], fake_provider: FakeProvider
):
    assert len(DROPPED) >= 80
    slug = model(abilities=["tools"]).slug
    for name, value in DROPPED.items():
        response = send(slug, **{name: value})
        assert response.status_code == 200, (name, response.text)
        arrived = fake_provider.requests[-1]
        assert arrived.keys() <= USUAL, (name, arrived)
        assert EVIL not in json.dumps(arrived)
        assert named_in(response) == name[:60].replace("$", "%24"), name
    assert send("auto", **DROPPED).status_code == 200
    assert fake_provider.requests[-1].keys() <= USUAL


def test_values_that_may_name_addresses_are_cut(
    send: Callable[..., httpx2.Response], model: Callable[..., Any], fake_provider: FakeProvider
):
    slug = model(abilities=["tools"]).slug
    for name, (value, kept) in CLEANED.items():
        assert send(slug, **{name: value}).status_code == 200, name
        arrived = fake_provider.requests[-1]
        assert (name, arrived.get(name)) == (name, kept)
        assert arrived.keys() <= USUAL | {name}
        assert EVIL not in json.dumps(arrived)
    assert send("auto", **{name: value for name, (value, _) in CLEANED.items()}).status_code == 200
    arrived = fake_provider.requests[-1]
    assert {name: arrived[name] for name in CLEANED if name in arrived} == {
        name: kept for name, (_, kept) in CLEANED.items() if kept is not None
    }


def test_no_hostile_field_reaches_any_kind(
    send: Callable[..., httpx2.Response], model: Callable[..., Any], fake_provider: FakeProvider
):
    slug = model(abilities=["tools"]).slug
    for kind in ProviderKind:
        Provider.objects.update(kind=kind)
        assert send(slug, **DROPPED, **{name: value for name, (value, _) in CLEANED.items()}).status_code == 200
        arrived = fake_provider.requests[-1]
        assert EVIL not in json.dumps(arrived), kind
        assert not arrived.keys() & (DROPPED.keys() - {"store"}), kind
        assert arrived.get("store") is (False if kind is ProviderKind.OPENAI else None)


def test_headers_of_the_caller_stay_here(
    send: Callable[..., httpx2.Response], model: Callable[..., Any], fake_provider: FakeProvider
):
    send(model().slug)
    assert fake_provider.headers
    assert EVIL not in str(fake_provider.headers[-1])


def test_names_of_users_go_out_as_digests(
    send: Callable[..., httpx2.Response], model: Callable[..., Any], fake_provider: FakeProvider
):
    slug = model().slug
    Provider.objects.update(kind=ProviderKind.OPENAI)
    given = {"user": EVIL, "safety_identifier": EVIL, "prompt_cache_key": EVIL}
    for key in ("a", "b", "a"):
        send(slug, **given | {"prompt_cache_key": EVIL + key})
    first, second, third = ({name: sent[name] for name in given} for sent in fake_provider.requests)
    assert all(len(digest) == 32 and EVIL not in digest for digest in first.values())
    assert first == third
    assert first["user"] == second["user"]
    assert first["prompt_cache_key"] != second["prompt_cache_key"]
    send(slug)
    assert not given.keys() & fake_provider.requests[-1].keys()


def test_administrator_adds_names_but_no_hostile_ones(
    send: Callable[..., httpx2.Response], model: Callable[..., Any], fake_provider: FakeProvider
):
    slug = model().slug
    Provider.objects.update(passed_names=["vendor_flag", "vendor_words"], kind=ProviderKind.MISTRAL)
    response = send(slug, vendor_flag=True, vendor_words=EVIL_URL, other_flag=True)
    arrived = fake_provider.requests[-1]
    assert (arrived["vendor_flag"], "vendor_words" in arrived, "other_flag" in arrived) == (True, False, False)
    assert named_in(response).split(", ") == ["vendor_words", "other_flag"]
