"""One refused part of a request is repaired by one repeat; a request that a caller did not make is never sent."""

import asyncio
from typing import Any

import pytest

from models_registry.providers import ChatRequest, ProviderError
from models_registry.providers.kinds import DIALECTS, ProviderKind, ReasoningBack
from models_registry.providers.openai_compatible import OpenAICompatible
from models_registry.providers.repairs import apply_all
from tests.fake_provider import FakeProvider

USER = {"role": "user", "content": "one two"}
PARTS = {"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]}
SYSTEM = {"role": "system", "content": "Be brief."}
ANSWERED = {"role": "assistant", "content": None, "tool_calls": []}
CALLS = {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function", "function": {}}]}
RESULT = {"role": "tool", "tool_call_id": "c", "content": "sunny"}
PICTURE = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}]}
OPTIONS = {"max_tokens": 500, "stream_options": {"include_usage": True}}


def call(at: FakeProvider, model: str, messages: list[Any], parameters: dict[str, Any], **fields: Any) -> list[str]:
    """Return the names of the repairs after which the model answered."""

    async def stream() -> list[str]:
        provider = OpenAICompatible()
        request = ChatRequest(
            base_url=at.base_url, key="", model=model, messages=messages, parameters=parameters,
            deadlines=dict.fromkeys(("connect", "first", "idle", "total"), 20.0), **fields,
        )  # fmt: skip
        try:
            return (await provider.stream(request, lambda text, reasoning: 0.0)).repaired
        finally:
            await provider.close()

    return asyncio.run(stream())


@pytest.mark.parametrize(
    ("model", "messages", "parameters", "repair"),
    [
        ("picky-max_tokens", [USER], OPTIONS, "max_tokens → max_completion_tokens"),
        ("picky-max_completion_tokens", [USER], {"max_completion_tokens": 9}, "max_completion_tokens → max_tokens"),
        ("picky-cap", [USER], OPTIONS, "max_tokens ≤ 300"),
        ("picky-temperature", [USER], {"temperature": 0.7}, "-temperature"),
        ("picky-top_p", [USER], {"temperature": 0.7, "top_p": 0.5}, "-top_p"),
        ("picky-seed", [USER], {"seed": 7}, "-seed"),
        ("picky-stream_options", [USER], OPTIONS, "-stream_options"),
        ("picky-stop", [USER], {"stop": ["x"]}, "-stop"),
        ("picky-response_format", [USER], {"response_format": {"type": "json_object"}}, "-response_format"),
        ("picky-system", [SYSTEM, USER], OPTIONS, "system → user"),
        ("picky-developer", [{"role": "developer", "content": "x"}, USER], OPTIONS, "developer → system"),
        ("picky-roles", [USER, USER], OPTIONS, "merge roles"),
        ("picky-parts", [PARTS], OPTIONS, "parts → text"),
        ("picky-null", [USER, ANSWERED, USER], OPTIONS, "null → text"),
        ("picky-system-place", [SYSTEM, USER, SYSTEM, USER], OPTIONS, "system first"),
        ("picky-after-tool", [USER, CALLS, RESULT, USER], OPTIONS, "bridge tool → user"),
        ("picky-no-reasoning", [USER, CALLS, RESULT], OPTIONS, "with reasoning"),
    ],
)
def test_refused_part_is_repaired_by_one_repeat(
    fake_provider: FakeProvider, model: str, messages: list[Any], parameters: dict[str, Any], repair: str
):
    assert call(fake_provider, model, messages, parameters) == [repair]
    assert fake_provider.calls == {model: 2}


@pytest.mark.parametrize(
    ("model", "parameters", "repair"),
    [
        ("late-picky-max_tokens", OPTIONS, "max_tokens → max_completion_tokens"),
        ("late-picky-temperature", {"temperature": 0.7}, "-temperature"),
    ],
)
def test_part_refused_in_a_stream_is_repaired_by_one_repeat(
    fake_provider: FakeProvider, model: str, parameters: dict[str, Any], repair: str
):
    assert call(fake_provider, model, [USER], parameters) == [repair]
    assert fake_provider.calls == {model: 2}


def test_refusal_behind_a_text_is_not_repeated(fake_provider: FakeProvider):
    with pytest.raises(ProviderError) as raised:
        call(fake_provider, "refuses-later", [USER], {"temperature": 0.7})
    assert (raised.value.code, raised.value.parameter) == ("unsupported", "temperature")
    assert fake_provider.calls == {"refuses-later": 1}


def test_refused_reasoning_is_left_out(fake_provider: FakeProvider):
    messages = [USER, {**CALLS, "reasoning_content": "let me see"}, RESULT]
    fields = {"reasoning_back": ReasoningBack()}
    assert call(fake_provider, "picky-reasoning", messages, {}, **fields) == ["without reasoning"]


# Kind → the roles and contents that reach its servers.
KNOWN = {
    ProviderKind.OPENAI: ["developer", "user", "assistant", "tool", "user"],
    ProviderKind.OTHER: ["system", "user", "assistant", "tool", "user"],
    ProviderKind.MISTRAL: ["system", "user", "assistant", "tool", "assistant", "user"],
    ProviderKind.OLLAMA: ["system", "user", "assistant", "tool", "user"],
}


@pytest.mark.parametrize("kind", KNOWN)
def test_kinds_get_the_forms_that_they_need(kind: ProviderKind):
    messages = [{"role": "developer", "content": "Be brief."}, USER, CALLS, RESULT, USER]
    request = ChatRequest("http://127.0.0.1:1/v1", "", "m", messages, {}, {})
    sent = apply_all(DIALECTS[kind].forms, request).messages
    assert [message["role"] for message in sent] == KNOWN[kind]
    assert sent[2]["content"] == ("" if kind is ProviderKind.OLLAMA else None)


def test_texts_survive_another_form(fake_provider: FakeProvider):
    call(fake_provider, "picky-system", [SYSTEM, PARTS], {})
    call(fake_provider, "picky-parts", [PARTS], {})
    joined, text = fake_provider.requests[1], fake_provider.requests[3]
    assert joined["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "Be brief."}, *PARTS["content"]]}
    ]
    assert text["messages"] == [{"role": "user", "content": "one\n\ntwo"}]


@pytest.mark.parametrize(
    ("model", "messages", "parameters", "fields", "part"),
    [
        ("picky-tools", [USER], {"tools": [{}]}, {}, "tools"),
        ("picky-images", [PICTURE], {}, {}, "images"),
        ("picky-stop", [USER], {"stop": ["x"]}, {"callers": frozenset({"stop"})}, "stop"),
        ("picky-response_format", [USER], {"response_format": {}}, {"callers": frozenset({"response_format"})},
         "response_format"),
        ("picky-temperature", [USER], {"temperature": 0.7}, {"kept": frozenset({"temperature"})}, "temperature"),
    ],
)  # fmt: skip
def test_part_that_must_stay_is_named(
    fake_provider: FakeProvider,
    model: str,
    messages: list[Any],
    parameters: dict[str, Any],
    fields: dict[str, Any],
    part: str,
):
    with pytest.raises(ProviderError) as refusal:
        call(fake_provider, model, messages, parameters, **fields)
    assert (refusal.value.code, refusal.value.parameter) == ("unsupported", part)
    assert fake_provider.calls == {model: 1}


def test_part_that_was_not_sent_is_not_blamed(fake_provider: FakeProvider):
    with pytest.raises(ProviderError) as refusal:
        call(fake_provider, "picky-always", [USER], {})
    assert (refusal.value.code, refusal.value.parameter) == ("rejected", "")


def test_repeat_ends_when_repair_does_not_help(fake_provider: FakeProvider):
    with pytest.raises(ProviderError):
        call(fake_provider, "picky-always", [USER], {"temperature": 1})
    assert fake_provider.calls == {"picky-always": 2}


@pytest.mark.parametrize(("context", "code"), [(0, "rejected"), (1_000, "prompt_too_long"), (9_000, "rejected")])
def test_rejected_prompt_over_the_context_is_too_long(fake_provider: FakeProvider, context: int, code: str):
    long = {"role": "user", "content": "word " * 1_000}
    with pytest.raises(ProviderError) as refusal:
        call(fake_provider, "status-400", [long], {}, context_tokens=context)
    assert refusal.value.code == code
