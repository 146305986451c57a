import asyncio
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from models_registry.models import LanguageModel, Provider
from models_registry.providers import ChatRequest, Completion, ProviderError, repairs
from models_registry.providers.kinds import DIALECTS, ProviderKind, guess_kind, provider_kinds
from models_registry.providers.openai_compatible import OpenAICompatible
from models_registry.validators import KNOWN_PARAMETERS
from tests.models_registry.providers.endpoints import ENDPOINTS

EVERYTHING: dict[str, Any] = {
    "temperature": 0.5, "top_p": 0.9, "top_k": 40, "min_p": 0.1, "presence_penalty": 0.2, "frequency_penalty": 0.3,
    "repeat_penalty": 1.1, "seed": 5, "stop": ["END"], "reasoning_effort": "low",
    "reasoning_format": "hidden", "enable_thinking": False, "chat_template_kwargs": {"enable_thinking": False},
}  # fmt: skip
OPENAI_PARAMETERS = {
    name: EVERYTHING[name]
    for name in (
        "temperature", "top_p", "presence_penalty", "frequency_penalty", "seed", "stop", "reasoning_effort",
    )
}  # fmt: skip
WITH_REPETITION_PENALTY = {**EVERYTHING, "repetition_penalty": 1.1}
del WITH_REPETITION_PENALTY["repeat_penalty"]
CAP_NAMES = ("max_tokens", "max_completion_tokens")
# Kind, model, the cap's name in its dialect, and the part of EVERYTHING that is sent besides cap and usage option.
REACHES = [
    ("openai", "gpt-6-luna", "max_completion_tokens", {"seed": 5, "reasoning_effort": "low"}),
    ("openai", "o3", "max_completion_tokens", {"seed": 5, "reasoning_effort": "low"}),
    ("openai", "gpt-4.1", "max_completion_tokens", OPENAI_PARAMETERS),
    ("anthropic", "claude-haiku-5-5", "max_tokens", {"stop": ["END"]}),
    ("anthropic", "claude-opus-4-6", "max_tokens", {"temperature": 0.5, "stop": ["END"]}),
    (
        "gemini", "gemini-3.5-flash-lite", "max_tokens",
        {"temperature": 0.5, "top_p": 0.9, "stop": ["END"], "reasoning_effort": "low"},
    ),
    (
        "mistral", "mistral-medium-3.5", "max_tokens",
        {"temperature": 0.5, "top_p": 0.9, "presence_penalty": 0.2, "frequency_penalty": 0.3, "random_seed": 5,
         "stop": ["END"], "reasoning_effort": "low"},
    ),
    ("groq", "openai/gpt-oss-120b", "max_completion_tokens", {**OPENAI_PARAMETERS, "reasoning_format": "hidden"}),
    ("openrouter", "deepseek/deepseek-v4-flash", "max_tokens", WITH_REPETITION_PENALTY),
    ("ollama", "llama3.2", "max_tokens", OPENAI_PARAMETERS),
    ("vllm", "Qwen/Qwen2.5-0.5B-Instruct", "max_tokens", WITH_REPETITION_PENALTY),
    ("llamacpp", "smollm2-135m", "max_tokens", EVERYTHING),
    (
        "lmstudio", "qwen3", "max_tokens",
        {"temperature": 0.5, "top_p": 0.9, "top_k": 40, "presence_penalty": 0.2, "frequency_penalty": 0.3,
         "repeat_penalty": 1.1, "seed": 5, "stop": ["END"], "reasoning_effort": "low"},
    ),
]  # fmt: skip


def call_endpoint(
    kind: str, upstream_name: str, parameters: dict[str, Any], *, taken_for: str = ""
) -> tuple[Completion, str, str, dict[str, Any]]:
    """Return (completion, text, reasoning, the body that the endpoint received)."""
    endpoint = ENDPOINTS[kind]
    pieces: list[tuple[str, str]] = []

    def receive(text: str, reasoning: str) -> float:
        pieces.append((text, reasoning))
        return 0.0

    async def call() -> Completion:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", endpoint.complete)
        provider = OpenAICompatible()
        async with TestServer(app) as server:
            model = LanguageModel(
                provider=Provider(base_url=str(server.make_url("/v1")), kind=taken_for or kind),
                upstream_name=upstream_name, parameters=parameters,
            )  # fmt: skip
            request = ChatRequest(
                base_url=model.provider.endpoint, key="k", model=upstream_name,
                messages=[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "one two"}],
                parameters=model.sent_parameters, deadlines=dict.fromkeys(("connect", "first", "idle", "total"), 20.0),
            )  # fmt: skip
            try:
                return await provider.stream(request, receive)
            finally:
                await provider.close()

    completion = asyncio.run(call())
    texts, reasonings = zip(*pieces, strict=True)
    return completion, "".join(texts), "".join(reasonings), endpoint.received[-1]


def test_data_covers_every_parameter_and_kind():
    assert EVERYTHING.keys() | set(CAP_NAMES) == KNOWN_PARAMETERS.keys()
    assert {kind for kind, *_ in REACHES} == set(ProviderKind.values) - {"other"}
    assert ENDPOINTS.keys() == DIALECTS.keys() == set(ProviderKind.values)


@pytest.mark.parametrize("cap", CAP_NAMES)
@pytest.mark.parametrize(("kind", "model", "cap_there", "reaches"), REACHES, ids=[f"{k}-{m}" for k, m, *_ in REACHES])
def test_provider_is_sent_exactly_what_it_accepts(
    kind: str, model: str, cap_there: str, reaches: dict[str, Any], cap: str
):
    completion, text, _, body = call_endpoint(kind, model, {**EVERYTHING, cap: 64})
    usage = {} if kind == "mistral" else {"stream_options": {"include_usage": True}}
    rest = {name: value for name, value in body.items() if name not in ("model", "messages", "stream")}
    assert rest == {**reaches, cap_there: 64, **usage}
    assert (body["model"], body["stream"], body["messages"][0]["role"]) == (model, True, "system")
    assert (text, completion.finish_reason) == ("one two", "stop")


@pytest.mark.parametrize(
    ("kind", "model"),
    [("openai", "o3"), ("anthropic", "claude-haiku-5-5"), ("gemini", "g"), ("mistral", "m"), ("groq", "g")],
)
def test_provider_refuses_parameters_of_another_dialect(kind: str, model: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(repairs, "MAX_REPAIRS", 0)
    with pytest.raises(ProviderError) as refusal:
        call_endpoint(kind, model, EVERYTHING, taken_for="other")
    assert refusal.value.code == "unsupported"
    assert refusal.value.parameter in EVERYTHING


@pytest.mark.parametrize("kind", ProviderKind.values)
def test_request_always_has_a_cap(kind: str, settings):
    settings.ARENA_MAX_TOKENS = 99
    _, _, _, body = call_endpoint(kind, "some-model", {})
    assert [body[name] for name in CAP_NAMES if name in body] == [99]


@pytest.mark.parametrize("kind", ProviderKind.values)
def test_reported_token_counts_are_returned(kind: str):
    completion, text, reasoning, _ = call_endpoint(kind, "some-model", {})
    written = (63, 60) if kind == "gemini" else (3, completion.reasoning_tokens)
    assert (completion.prompt_tokens, completion.completion_tokens, completion.reasoning_tokens) == (7, *written)
    assert text == "one two"
    assert reasoning == ("let me see" if kind in ("mistral", "groq", "openrouter", "vllm") else "")


def test_unknown_server_is_sent_all_parameters():
    _, _, _, body = call_endpoint("other", "some-model", {**EVERYTHING, "max_completion_tokens": 64})
    assert {name: body[name] for name in EVERYTHING} == EVERYTHING
    assert body["max_completion_tokens"] == 64


@pytest.mark.parametrize(
    ("base_url", "kind"),
    [
        ("https://api.openai.com/v1", "openai"),
        ("https://api.anthropic.com/v1", "anthropic"),
        ("https://generativelanguage.googleapis.com/v1beta/openai", "gemini"),
        ("https://api.mistral.ai/v1", "mistral"),
        ("https://api.groq.com/openai/v1", "groq"),
        ("https://openrouter.ai/api/v1", "openrouter"),
        ("http://localhost:11434/v1", "ollama"),
        ("http://localhost:1234/v1", "lmstudio"),
        ("${ARENA_LOCAL_MODEL_URL}", "llamacpp"),
        ("http://127.0.0.1:8001/v1", "other"),
        ("https://api.openai.com.example/v1", "other"),
        ("https://our-resource.openai.azure.com/openai/v1", "openai"),
        ("https://our-resource.openai.azure.com.example/openai/v1", "other"),
    ],
)
def test_kind_is_guessed_from_address_unless_configured(base_url: str, kind: str):
    assert guess_kind(base_url) == kind
    assert Provider(base_url=base_url).known_kind == kind
    assert Provider(base_url=base_url, kind="vllm").known_kind == "vllm"


def test_new_kind_needs_no_migration():
    assert Provider._meta.get_field("kind").deconstruct()[3]["choices"] is provider_kinds
