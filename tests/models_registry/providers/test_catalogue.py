from decimal import Decimal
from typing import Any

import pytest

from models_registry.providers import catalogue_page
from models_registry.providers.catalogue import CatalogueRefused, NotACatalogue, Offer, find_offer, parse_offers
from models_registry.providers.catalogue_page import fetch
from models_registry.providers.kinds import ProviderKind
from tests.fake_provider import CANARY, FakeProvider
from tests.waiting import wait_for

OPENROUTER = {
    "id": "deepseek/deepseek-v4-flash", "canonical_slug": "deepseek/deepseek-v4-flash", "created": 1,
    "hugging_face_id": "deepseek-ai/DeepSeek-V4-Flash", "name": "DeepSeek: DeepSeek V4 Flash",
    "context_length": 1048576,
    "architecture": {"modality": "text+image->text", "input_modalities": ["text", "image"],
                     "output_modalities": ["text"], "tokenizer": "DeepSeek"},
    "pricing": {"prompt": "0.00000014", "completion": "0.00000028", "request": "0"},
    "top_provider": {"context_length": 1048576, "max_completion_tokens": 384000, "is_moderated": False},
    "supported_parameters": ["max_tokens", "temperature", "tools"],
}  # fmt: skip
LISTS: list[tuple[str, Any, list[Offer]]] = [
    (
        "openai",
        {"object": "list", "data": [{"id": "gpt-6-luna", "object": "model", "created": 1, "owned_by": "system"}]},
        [Offer("gpt-6-luna")],
    ),
    (
        "anthropic",
        {"data": [{"type": "model", "id": "claude-haiku-5-5-20260901", "display_name": "Claude Haiku 5.5",
                   "max_input_tokens": 1000000}], "has_more": False},
        [Offer("claude-haiku-5-5-20260901", "Claude Haiku 5.5", context_length=1_000_000)],
    ),
    (
        "gemini",
        {"object": "list", "data": [{"id": "models/gemini-3.5-flash-lite", "object": "model", "owned_by": "google",
                                     "display_name": "Gemini 3.5 Flash-Lite"}]},
        [Offer("gemini-3.5-flash-lite", "Gemini 3.5 Flash-Lite", "google")],
    ),
    (
        "mistral",
        {"object": "list", "data": [
            {"id": "mistral-medium-3.5", "owned_by": "mistralai", "name": "mistral-medium-3.5",
             "max_context_length": 256000, "aliases": ["mistral-medium-latest"],
             "capabilities": {"completion_chat": True, "function_calling": True, "vision": True}},
            {"id": "mistral-embed", "capabilities": {"completion_chat": False}},
        ]},
        [Offer("mistral-medium-3.5", "", "mistralai", 256_000, abilities=("images", "tools"),
               other_names=("mistral-medium-latest",))],
    ),
    (
        "groq",
        {"object": "list", "data": [
            {"id": "openai/gpt-oss-120b", "owned_by": "OpenAI", "active": True, "context_window": 131072},
            {"id": "old", "active": False},
        ]},
        [Offer("openai/gpt-oss-120b", "", "OpenAI", 131_072)],
    ),
    (
        "openrouter",
        {"data": [
            OPENROUTER,
            {**OPENROUTER, "id": "openrouter/auto", "name": "Auto Router",
             "pricing": {"prompt": "-1", "completion": "-1"},
             "hugging_face_id": None, "supported_parameters": [], "context_length": 2000000,
             "architecture": {"input_modalities": ["text"], "output_modalities": ["text"]}},
            {"id": "maker/free", "pricing": {"prompt": "0", "completion": "0"}},
            {**OPENROUTER, "id": "maker/painter", "architecture": {"output_modalities": ["image"]}},
        ]},
        [
            Offer("deepseek/deepseek-v4-flash", "DeepSeek V4 Flash", "DeepSeek", 1_048_576, None, Decimal("0.14"),
                  Decimal("0.28"), ("images", "tools"), is_open=True),
            Offer("maker/free", price_input=Decimal(0), price_output=Decimal(0)),
            Offer("openrouter/auto", "Auto Router", "", 2_000_000),
        ],
    ),
    (
        "ollama",
        {"models": [
            {"name": "llama3.2:latest", "model": "llama3.2:latest", "size": 2019393189,
             "capabilities": ["completion", "tools"],
             "details": {"family": "llama", "parameter_size": "3.2B", "quantization_level": "Q4_K_M"}},
            {"name": "smollm2:135m", "model": "smollm2:135m", "details": {"parameter_size": "134.52M"}},
            {"name": "nomic-embed-text:latest", "capabilities": ["embedding"], "details": {}},
        ]},
        [
            Offer("llama3.2:latest", size_b=Decimal("3.2"), abilities=("tools",)),
            Offer("smollm2:135m", size_b=Decimal("0.135")),
        ],
    ),
    (
        "vllm",
        {"object": "list", "data": [{"id": "Qwen/Qwen2.5-0.5B-Instruct", "owned_by": "vllm", "root": "Qwen/x",
                                     "max_model_len": 32768, "permission": []}]},
        [Offer("Qwen/Qwen2.5-0.5B-Instruct", context_length=32_768)],
    ),
    (
        "llamacpp",
        {"models": [{"name": "smollm2", "model": "smollm2"}], "object": "list",
         "data": [{"id": "smollm2", "owned_by": "llamacpp", "meta": {"n_ctx_train": 8192, "n_params": 134515008}}]},
        [Offer("smollm2", context_length=8192, size_b=Decimal("0.135"))],
    ),
    ("lmstudio", {"data": [{"id": "qwen3", "object": "model", "owned_by": "organization_owner"}]}, [Offer("qwen3")]),
    ("other", [{"id": "bare"}], [Offer("bare")]),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "payload", "offers"), LISTS, ids=[kind for kind, *_ in LISTS])
def test_list_of_each_kind_is_parsed(kind: str, payload: Any, offers: list[Offer]):
    assert parse_offers(payload) == offers
    assert [Offer.from_json(offer.to_json()) for offer in offers] == offers


def test_lists_cover_every_kind():
    assert [kind for kind, *_ in LISTS] == ProviderKind.values


@pytest.mark.parametrize("payload", [None, 3, "models", {}, {"data": {}}, {"error": {}}, [1, 2], {"data": [7]}])
def test_payload_without_list_is_refused(payload: Any):
    with pytest.raises(NotACatalogue):
        parse_offers(payload)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("context_length", 10**30), ("context_length", -5), ("context_length", "many"), ("context_length", True),
        ("pricing", {"prompt": "NaN", "completion": "1e999999999"}), ("pricing", {"prompt": [], "completion": None}),
        ("pricing", "free"), ("meta", {"n_params": 10**40}), ("details", {"parameter_size": "9" * 99 + "B"}),
        ("architecture", []), ("capabilities", 7), ("aliases", {"a": 1}), ("display_name", "x" * 10_000),
        ("owned_by", None), ("supported_parameters", "tools"),
    ],
)  # fmt: skip
def test_invalid_field_in_list_is_ignored(field: str, value: Any):
    assert parse_offers([{"id": "odd", field: value}]) == [Offer("odd")]


@pytest.mark.parametrize(
    "payload",
    [
        ["m1", "m2"],
        {"data": ["m1", "m2"]},
        {"object": "list", "data": None, "models": ["m1", "m2"]},
        {"models": [{"name": "models/m1"}, {"model": "m2"}]},
        {"data": {"m1": {"id": "m1"}, "m2": {}}},
        {"results": [{"id": "m2"}, {"id": "m1"}, {"id": "m1"}, {"id": "x" * 5000}, {"id": None}, {}, 7]},
    ],
)
def test_list_has_many_shapes(payload: Any):
    assert [offer.upstream_name for offer in parse_offers(payload)] == ["m1", "m2"]


def test_list_without_models_is_empty():
    assert parse_offers({"object": "list", "data": None}) == []


@pytest.mark.parametrize(
    "item",
    [
        {"id": "m", "type": "embeddings"},
        {"id": "m", "type": "embedding"},
        {"id": "text-embedding-3-small"},
        {"id": "BAAI/bge-m3"},
        {"id": "nomic-embed-text:latest"},
        {"id": "whisper-1"},
        {"id": "m", "task": "rerank"},
        {"id": "m", "model_info": {"mode": "embedding"}},
        {"name": "m", "endpoints": ["embed"]},
        {"name": "models/m", "supportedGenerationMethods": ["embedContent"]},
    ],
)
def test_models_that_write_no_answers_are_left_out(item: dict[str, Any]):
    chat = {"id": "e5x-chat", "type": "chat"}
    assert [offer.upstream_name for offer in parse_offers([item, chat])] == ["e5x-chat"]


@pytest.mark.parametrize(
    ("item", "prices"),
    [
        ({"pricing": {"input": 0.18, "output": 0.59, "hourly": 0}}, ("0.18", "0.59")),  # Together
        ({"pricing": {"input": 0, "output": 0}}, ("0", "0")),
        ({"pricing": {"input": "0.0000002", "output": "0.0000006"}}, ("0.2", "0.6")),  # Vercel
        ({"metadata": {"pricing": {"input_tokens": 0.06, "output_tokens": 0.24}}}, ("0.06", "0.24")),  # DeepInfra
        ({"model_info": {"input_cost_per_token": 2e-7, "output_cost_per_token": 4e-7}}, ("0.2", "0.4")),  # LiteLLM
        ({"pricing": {"prompt": "0.0000002", "completion": "-1"}}, ("0.2", None)),  # OpenRouter
    ],
)
def test_prices_are_per_million_tokens(item: dict[str, Any], prices: tuple[str | None, str | None]):
    [offer] = parse_offers([{"id": "m", **item}])
    assert (offer.price_input, offer.price_output) == tuple(price and Decimal(price) for price in prices)


@pytest.mark.parametrize(
    ("kind", "cursor", "name"),
    [("other", "has_more", "after"), ("anthropic", "has_more", "after_id"), ("other", "next_page_token", "page_token")],
)
def test_list_of_several_pages_is_whole(fake_provider: FakeProvider, kind: str, cursor: str, name: str):
    fake_provider.pages = [["m1", "m2"], ["m3"], ["m4"]]
    fake_provider.page_cursor = cursor
    offers = request_list(fake_provider, "/paged", kind=kind)
    assert [offer.upstream_name for offer in offers] == ["m1", "m2", "m3", "m4"]
    assert [request.query.get(name) for request in fake_provider.list_requests] == [None, "page-1", "page-2"]


def test_page_that_repeats_itself_ends_the_list(fake_provider: FakeProvider):
    fake_provider.serves = {"data": [{"id": "m1"}], "has_more": True, "last_id": "m1"}
    assert [offer.upstream_name for offer in request_list(fake_provider, "")] == ["m1"]
    assert len(fake_provider.list_requests) == 2


def test_unusable_names_in_list_are_skipped():
    payload = [{"id": ""}, {"id": "x" * 300}, {"id": 5}, None, {"id": "ends\x00"}, {"id": "twice"}, {"id": "twice"}]
    assert [offer.upstream_name for offer in parse_offers(payload)] == ["ends\ufffd", "twice"]


@pytest.mark.parametrize(
    ("upstream_name", "served", "is_found"),
    [
        ("llama3.2", "llama3.2:latest", True),
        ("llama3.2", "llama3.2:1b", False),
        ("deepseek/v4:nitro", "deepseek/v4", True),
        ("deepseek/v4:free", "deepseek/v4", False),
        ("models/gemini-3", "gemini-3", True),
        ("claude-haiku-5-5", "claude-haiku-5-5-20260901", True),
        ("gpt-6", "gpt-6-2026-08-01", True),
        ("gpt-6", "gpt-6-luna", False),
        ("gpt-6", "gpt-6", True),
    ],
)
def test_offer_is_found_by_provider_spelling(upstream_name: str, served: str, is_found: bool):
    assert (find_offer([Offer("another"), Offer(served)], upstream_name) is not None) == is_found


def test_offer_is_found_by_alias():
    assert find_offer([Offer("medium-3.5", other_names=("medium-latest",))], "medium-latest") == Offer(
        "medium-3.5", other_names=("medium-latest",)
    )


def request_list(fake_provider: FakeProvider, fault: str, *, key: str = "k-1", kind: str = "other") -> list[Offer]:
    return fetch(fake_provider.base_url.replace("/v1", f"{fault}/v1"), key=key, kind=ProviderKind(kind))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ("/status-401", "The provider refused the key (HTTP 401)"),
        ("/status-403", "The provider refused the key (HTTP 403)"),
        ("/status-404", "There is no list of models at this address (HTTP 404)"),
        ("/status-429", "The provider's rate limit is reached (HTTP 429)"),
        ("/status-418", "The server declined to list its models (HTTP 418)"),
        ("/status-503", "The provider reported an error (HTTP 503)"),
        ("/redirect", "The server redirects to another address (HTTP 302)"),
        ("/html", "The server answered with a web page"),
        ("/not-json", "The server's answer is not JSON"),
        ("/nested", "The server's answer is not JSON"),
        ("/zipped", "The server's answer is not JSON"),
        ("/not-a-list", "The server answered, but not with a list of models"),
        ("/cut", "The connection to “127.0.0.1” broke before the list was complete"),
        ("/endless", "The list is longer than 1 MB"),
        ("/silent", "The server did not answer within"),
    ],
)
def test_failed_list_request_has_one_sentence(
    fault: str, sentence: str, fake_provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(catalogue_page, "TIMEOUT_S", 3.0 if fault == "/silent" else 20.0)
    monkeypatch.setattr(catalogue_page, "MAX_BYTES", 1_000_000)
    with pytest.raises(CatalogueRefused) as refused:
        request_list(fake_provider, fault, key="sk-secret-key-1234")
    assert str(refused.value).startswith(sentence)
    assert CANARY not in str(refused.value)
    assert "sk-secret" not in str(refused.value)
    wait_for(lambda: fake_provider.list_requests)
    assert len(fake_provider.list_requests) == 1


def test_missing_server_has_its_own_sentence():
    with pytest.raises(CatalogueRefused, match=r"Nothing answers at “127.0.0.1”"):
        fetch("http://127.0.0.1:9/v1", key="", kind=ProviderKind.OTHER)


def test_list_of_refused_private_server_is_not_requested(fake_provider: FakeProvider, settings):
    settings.ARENA_ALLOW_PRIVATE_PROVIDERS = False
    with pytest.raises(CatalogueRefused, match="This arena does not allow calls to"):
        request_list(fake_provider, "")
    assert not fake_provider.list_requests


def test_list_request_has_address_and_key_of_its_kind(fake_provider: FakeProvider):
    requests = []
    for kind, key in [("other", "k-1"), ("anthropic", "k-1"), ("ollama", ""), ("ollama", "k-1")]:
        request_list(fake_provider, "", key=key, kind=kind)
        request = fake_provider.list_requests[-1]
        sent = {name: value for name, value in request.headers.items() if name in ("Authorization", "x-api-key")}
        requests.append((request.path_qs, sent))
    assert requests == [
        ("/v1/models", {"Authorization": "Bearer k-1"}),
        ("/v1/models?limit=1000", {"x-api-key": "k-1"}),
        ("/api/tags", {}),
        ("/api/tags", {"Authorization": "Bearer k-1"}),
    ]


def test_list_request_ignores_proxy_variable(fake_provider: FakeProvider, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    assert request_list(fake_provider, "") == [Offer("honest")]
