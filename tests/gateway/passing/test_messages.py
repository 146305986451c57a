"""Messages, tools and schemas reach the model as they came."""

import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from accounts.actor import Actor
from gateway.models import Exchange
from tests.fake_provider import FakeProvider
from tests.gateway.software import ASKED, WEATHER, issue_token
from tests.gateway.test_bad_input import CALL, PNG, RESULT

pytestmark = pytest.mark.django_db(transaction=True)
USER = {"role": "user", "content": "one two"}
CALLS = {"role": "assistant", "content": None, "tool_calls": [CALL]}
PICTURE = {"type": "image_url", "image_url": {"url": PNG, "detail": "original", "x": 1}}
CYCLE = {"$defs": {"a": {"properties": {"b": {"$ref": "#/$defs/a"}}}}, "$ref": "#/$defs/a"}


def user(*parts: Any) -> list[Any]:
    return [{"role": "user", "content": list(parts)}]


MESSAGES: dict[str, list[Any]] = {
    "long": [{"role": "user", "content": "one " * 100_000}, USER],
    "long-system": [{"role": "system", "content": "x" * 500_000}, USER],
    "1500-messages": [USER] * 1_500,
    "300-parts": user(*[{"type": "text", "text": "a"}] * 300),
    "developer": [{"role": "developer", "content": "x"}, USER],
    "system-parts": [{"role": "system", "content": [{"type": "text", "text": "x"}]}, USER],
    "system-picture": [{"role": "system", "content": [PICTURE]}, USER],
    "unknown-role": [{"role": "critic", "content": "x"}, USER],
    "prefill": [USER, {"role": "assistant", "content": "Once", "prefix": True}],
    "no-user": [{"role": "system", "content": "x"}],
    "empty-content": [USER, {"role": "assistant", "content": ""}, USER],
    "null-content": [USER, {"role": "assistant", "content": None}, USER],
    "no-content": [USER, {"role": "assistant"}, USER],
    "no-parts": [USER, {"role": "assistant", "content": []}, USER],
    "blank": [{"role": "user", "content": " \n"}, USER],
    "number": [{"role": "user", "content": 5}, USER],
    "names": [{**USER, "name": "Ann B. " * 20}],
    "unknown-field": [{**USER, "x": {"y": [1, None, {}]}}],
    "unknown-part": user({"type": "poem", "poem": {"lines": ["a"]}}, {"type": "text", "text": "b", "z": [1]}),
    "part-without-type": user({"text": "a"}),
    "text-as-part": user("a", {"type": "text", "text": "b"}),
    "cache-control": user({"type": "text", "text": "a", "cache_control": {"type": "ephemeral", "ttl": "1h"}}),
    "refusal": [USER, {"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}], "refusal": "no"}, USER],
    "annotations": [
        USER, {"role": "assistant", "content": "x", "annotations": [{"url_citation": {"url": "http://10.0.0.1/"}}]},
        USER,
    ],
    "address-in-a-text": user({"type": "text", "text": "http://10.0.0.1/", "title": "file:///etc"}),
    "result-without-call": [USER, RESULT],
    "call-without-result": [USER, CALLS, USER],
    "two-results": [USER, CALLS, RESULT, RESULT],
    "empty-calls": [USER, {"role": "assistant", "content": "x", "tool_calls": []}, USER],
    "custom-call": [
        USER,
        {"role": "assistant", "tool_calls": [{"id": "c1", "type": "custom", "custom": {"name": "f", "input": "x"}}]},
        RESULT,
    ],
    "odd-arguments": [
        USER, {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{"}}]}, RESULT,
    ],
    "object-arguments": [
        USER, {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}]}, RESULT,
    ],
    "calls-of-any-shape": [
        {"role": "assistant", "tool_calls": calls, "content": "x"}
        for calls in ("x", ["x"], [None], {"a": 1}, 7, [[CALL]])
    ],
    "contents-of-any-shape": [
        {"role": role, "content": content}
        for role in ("user", "system", "tool", "assistant")
        for content in (True, {"a": "b"}, [[PICTURE]], [None, 7], {"type": "image_url", "image_url": 7})
    ],
    "long-call-id": [
        USER, {"role": "assistant", "tool_calls": [{**CALL, "id": "c" * 900, "index": 0}]},
        {**RESULT, "tool_call_id": "c" * 900},
    ],
    "picture": user({"type": "text", "text": "x"}, PICTURE),
    "picture-as-text": user({"type": "image_url", "image_url": PNG}),
    "jpg": user({"type": "image_url", "image_url": {"url": PNG.replace("png", "jpg")}}),
    "lines-in-base64": user({"type": "image_url", "image_url": {"url": f"{PNG[:40]}\n{PNG[40:]}"}}),
    "no-picture-inside": user({"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}),
    "another-type": user({"type": "image_url", "image_url": {"url": "data:image/heic;base64,aGk="}}),
    "audio": user({"type": "input_audio", "input_audio": {"data": "aGk=", "format": "wav"}}),
    "file": user({"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,aGk="}}),
    "video": user({"type": "video_url", "video_url": {"url": "data:video/mp4;base64,aGk="}}),
    "source": user({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}),
    "picture-in-a-result": [USER, CALLS, {**RESULT, "content": [{"type": "text", "text": "x"}, PICTURE]}],
    "file-in-a-result": [
        USER, CALLS, {**RESULT, "content": [{"type": "file", "file": {"file_data": "data:text/csv;base64,YQ=="}}]},
    ],
}  # fmt: skip
FUNCTION = WEATHER["function"]
FIELDS: dict[str, Any] = {
    "tools": [
        {"type": "function", "function": {**FUNCTION, "parameters": schema}, **more}
        for schema in (
            CYCLE, {"properties": {"a": {"$ref": "#"}}}, {"$ref": "https://example.org/x"},
            {"type": ["object", "null"]}, {"maximum": 2**70, "x-y": None}, {}, {"enum": [1, None, {"a": []}]},
        )
        for more in ({}, {"cache_control": {"type": "ephemeral"}, "x": 1})
    ] + [
        {"type": "function", "function": {"name": name}} for name in ("a.b", "a b", "f" * 200, "weather", "weather")
    ] + [
        {"type": "custom", "custom": {"name": "c", "format": {"type": "grammar"}}}, {"function": {"name": "typeless"}},
    ],
    "stop": ["a", "b", "c", "d", "e", "", "x" * 900], "seed": 2**63, "temperature": 3, "top_p": 1.5, "top_k": 40,
    "min_p": 0.1, "typical_p": 0.9, "repetition_penalty": 1.1, "presence_penalty": -2, "frequency_penalty": 2,
    "logit_bias": {"50256": -100}, "logprobs": True, "top_logprobs": 20, "parallel_tool_calls": False,
    "reasoning_effort": "xhigh", "reasoning": {"effort": "high", "exclude": True, "max_tokens": 200},
    "thinking": {"type": "enabled", "budget_tokens": 1024}, "verbosity": "low", "enable_thinking": False,
    "chat_template_kwargs": {"enable_thinking": False}, "modalities": ["text"],
    "prediction": {"type": "content", "content": [{"type": "text", "text": "http://10.0.0.1/"}]},
    "response_format": {"type": "json_schema", "json_schema": {"name": "a.b", "schema": CYCLE, "strict": None}},
    "structured_outputs": {"regex": "a|b"}, "guided_json": CYCLE, "guided_regex": "[a-z]+://", "guided_choice": ["a"],
    "grammar": 'root ::= "a"', "tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto"}},
}  # fmt: skip
# Given fields, and what arrives instead.
CHANGED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "cap-0": ({"max_tokens": 0}, {"max_tokens": 2048}),
    "cap-minus-1": ({"max_tokens": -1}, {"max_tokens": 2048}),
    "cap-null": ({"max_tokens": None}, {"max_tokens": 2048}),
    "cap-fraction": ({"max_tokens": 7.0}, {"max_tokens": 7}),
    "cap-text": ({"max_tokens": "7"}, {"max_tokens": 7}),
    "cap-words": ({"max_tokens": "many"}, {"max_tokens": 2048}),
    "cap-true": ({"max_tokens": True}, {"max_tokens": 2048}),
    "cap-infinite": ({"max_tokens": 10**400}, {"max_tokens": 2048}),
    "newer-cap": ({"max_tokens": 5, "max_completion_tokens": 9}, {"max_tokens": 9}),
    "no-stops": ({"stop": []}, {"stop": None}),
    "choice-without-tools": ({"tool_choice": "auto"}, {"tool_choice": None}),
    "no-tools": ({"tools": [], "tool_choice": "none"}, {"tools": None, "tool_choice": None}),
    "functions": (
        {"functions": [FUNCTION], "function_call": {"name": "weather"}},
        {"tools": [WEATHER], "tool_choice": {"type": "function", "function": {"name": "weather"}}, "functions": None},
    ),
    "older-call-and-result": (
        {
            "messages": [
                USER, {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
                {"role": "function", "name": "f", "content": "ok"},
            ],
        },
        {
            "messages": [
                USER,
                {
                    "role": "assistant", "content": None,
                    "tool_calls": [{**CALL, "id": "call_1"}],
                },
                {"role": "tool", "tool_call_id": "call_1", "content": "ok"},
            ],
        },
    ),
}  # fmt: skip


@pytest.fixture
def sent(address: str, token: str, fake_provider: FakeProvider) -> Callable[..., dict[str, Any]]:
    """Return a function that sends a body and returns the body that the model received."""
    headers = {"Authorization": f"Bearer {token}"}

    def sent(body: dict[str, Any]) -> dict[str, Any]:
        before = len(fake_provider.requests)
        response = httpx2.post(f"{address}/v1/chat/completions", json={"messages": ASKED, **body}, headers=headers)
        assert len(fake_provider.requests) == before + 1, response.text
        return fake_provider.requests[-1]

    return sent


def test_messages_arrive_as_they_came(sent: Callable[..., dict[str, Any]], model: Callable[..., Any]):
    """The provider is of a kind that takes them so: others get other forms (models_registry.providers.repairs)."""
    asked = model("length-alone")
    asked.provider.kind = "openai"
    asked.provider.save()
    slug = asked.slug
    for name, messages in MESSAGES.items():
        assert sent({"model": slug, "messages": messages})["messages"] == messages, name


def test_documented_fields_arrive_as_they_came(sent: Callable[..., dict[str, Any]], model: Callable[..., Any]):
    slug = model("length-alone").slug
    arrived = sent({"model": slug, **FIELDS})
    assert {name: arrived.get(name) for name in FIELDS} == FIELDS
    assert arrived == json.loads(json.dumps(arrived))


def test_unusable_fields_count_as_absent(sent: Callable[..., dict[str, Any]], model: Callable[..., Any]):
    slug = model("length-alone").slug
    for name, (given, wanted) in CHANGED.items():
        arrived = sent({"model": slug, **given})
        assert (name, {field: arrived.get(field) for field in wanted}) == (name, wanted)


def test_kept_texts_have_every_shape(model: Callable[..., Any], owner: Actor, address: str):
    headers = {"Authorization": f"Bearer {issue_token(owner, keeps_texts=True)}"}
    long_picture = {"type": "image_url", "image_url": {"url": PNG + "A" * 900}}
    for name in (
        "unknown-part",
        "custom-call",
        "no-content",
        "number",
        "picture-as-text",
        "file-in-a-result",
        "calls-of-any-shape",
        "contents-of-any-shape",
    ):
        body = {"model": model("length-alone").slug, "messages": [*MESSAGES[name], *user(long_picture)]}
        assert httpx2.post(f"{address}/v1/chat/completions", json=body, headers=headers).status_code == 200
        texts = Exchange.objects.latest("pk").texts
        assert texts is not None
        assert texts["messages"][-1]["content"][0]["image_url"] == {"url": PNG[:40] + "…"}
        assert [message["role"] for message in texts["messages"]] == [message["role"] for message in body["messages"]]
