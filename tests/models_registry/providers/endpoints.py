"""Fake endpoints that refuse and stream like each kind of provider, by documentation and error reports."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

Body = dict[str, Any]
BASIC = {"model", "messages", "stream"}
OPENAI_PARAMETERS = {
    "temperature", "top_p", "max_tokens", "max_completion_tokens", "presence_penalty", "frequency_penalty", "seed",
    "stop", "reasoning_effort", "stream_options",
}  # fmt: skip
USAGE = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}


@dataclass
class Endpoint:
    """Fake endpoint: `wrong` returns (HTTP status, error) for an invalid body, `stream` the events for a valid one."""

    wrong: Callable[[Body], tuple[int, Any] | None]
    stream: Callable[[Body], list[Any]]
    received: list[Body] = field(default_factory=list)

    async def complete(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.received.append(body)
        refusal = self.wrong(body)
        if refusal is not None:
            return web.json_response(refusal[1], status=refusal[0])
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for item in self.stream(body):
            line = item if isinstance(item, str) else f"data: {json.dumps(item)}"
            await response.write(line.encode() + b"\n\n")
        return response


def chunk(delta: Body | None = None, finish: str | None = None, **more: Any) -> Body:
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    return {"id": "c-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices, **more}


def usage_if_requested(body: Body, **more: Any) -> list[Body]:
    return [chunk(usage={**USAGE, **more})] if body.get("stream_options", {}).get("include_usage") else []


def unknown(body: Body, known: set[str]) -> list[str]:
    return sorted(body.keys() - known - BASIC)


def openai_error(message: str, param: str, code: str) -> tuple[int, Any]:
    error = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    return 400, {"error": error}


# OpenAI: https://platform.openai.com/docs/api-reference/chat, guides on reasoning


def wrong_for_openai(body: Body) -> tuple[int, Any] | None:
    for name in unknown(body, OPENAI_PARAMETERS):
        return openai_error(f"Unrecognized request argument supplied: {name}", name, "unknown_parameter")
    if not body["model"].startswith(("o3", "gpt-6")):
        return None
    for name in ("max_tokens", "top_p", "presence_penalty", "frequency_penalty", "stop"):
        if name in body:
            return openai_error(f"Unsupported parameter: '{name}' is not supported", name, "unsupported_parameter")
    if body.get("temperature", 1) != 1:
        return openai_error("Unsupported value: 'temperature' does not support 0.5", "temperature", "unsupported_value")
    return None


def openai_stream(body: Body) -> list[Any]:
    return [
        chunk({"role": "assistant", "content": "", "refusal": None}, usage=None, obfuscation="x"),
        chunk({"content": "one "}, usage=None),
        chunk({"content": "two"}, usage=None),
        chunk({}, "stop", usage=None),
        *usage_if_requested(body, completion_tokens_details={"reasoning_tokens": 0}),
        "data: [DONE]",
    ]


# Anthropic: https://platform.claude.com/docs/en/api/openai-sdk


def wrong_for_anthropic(body: Body) -> tuple[int, Any] | None:
    sampled = [name for name in ("temperature", "top_p", "top_k") if name in body]
    if body["model"] == "claude-haiku-5-5" and sampled:
        return openai_error(f"`{sampled[0]}` is deprecated for this model.", sampled[0], "invalid_request_error")
    if len(sampled) > 1:
        message = "`temperature` and `top_p` cannot both be specified for this model. Please use only one."
        return openai_error(message, "temperature", "invalid_request_error")
    return None


def plain_stream(body: Body) -> list[Any]:
    return [
        chunk({"role": "assistant", "content": "one "}),
        chunk({"content": "two"}),
        chunk({}, "stop"),
        *usage_if_requested(body),
        "data: [DONE]",
    ]


# Gemini: https://ai.google.dev/gemini-api/docs/openai


def wrong_for_gemini(body: Body) -> tuple[int, Any] | None:
    known = OPENAI_PARAMETERS - {"seed", "presence_penalty", "frequency_penalty"}
    names = unknown(body, known)
    message = "\n".join(f'Invalid JSON payload received. Unknown name "{name}": Cannot find field.' for name in names)
    return (400, [{"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}]) if names else None


def gemini_stream(body: Body) -> list[Any]:
    """Return events with growing usage, of which only the total includes the reasoning."""
    return [
        chunk({"content": "one "}, usage={"prompt_tokens": 7, "completion_tokens": 1, "total_tokens": 68}),
        chunk({"content": "two"}, "stop", usage={**USAGE, "total_tokens": 70}),
        "data: [DONE]",
    ]


# Mistral: https://docs.mistral.ai/api


def wrong_for_mistral(body: Body) -> tuple[int, Any] | None:
    known = (OPENAI_PARAMETERS | {"random_seed"}) - {"seed", "max_completion_tokens", "stream_options"}
    names = unknown(body, known)
    detail = [
        {"type": "extra_forbidden", "loc": ["body", name], "msg": "Extra inputs are not permitted"} for name in names
    ]
    error = {"object": "error", "message": {"detail": detail}, "type": "invalid_request_error", "code": None}
    return (422, error) if names else None


def mistral_stream(body: Body) -> list[Any]:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "let me see"}]}
    return [
        chunk({"role": "assistant", "content": ""}),
        chunk({"content": [thinking]}),
        chunk({"content": [{"type": "text", "text": "one "}]}),
        chunk({"content": "two"}, "stop", usage=USAGE),
        "data: [DONE]",
    ]


# Groq: https://console.groq.com/docs/openai


def wrong_for_groq(body: Body) -> tuple[int, Any] | None:
    for name in unknown(body, OPENAI_PARAMETERS | {"reasoning_format"}):
        return openai_error(f"property '{name}' is unsupported", name, "invalid_request_error")
    return None


def groq_stream(body: Body) -> list[Any]:
    return [
        chunk({"role": "assistant", "content": "", "channel": "analysis"}, x_groq={"id": "req_1"}),
        chunk({"reasoning": "let me see", "channel": "analysis"}),
        chunk({"content": "one "}),
        chunk({"content": "two"}),
        chunk({}, "stop", x_groq={"id": "req_1", "usage": {**USAGE, "queue_time": 0.1}}),
        "data: [DONE]",
    ]


# OpenRouter: https://openrouter.ai/docs/api/reference/streaming


def openrouter_stream(body: Body) -> list[Any]:
    return [
        ": OPENROUTER PROCESSING",
        ": OPENROUTER PROCESSING",
        chunk({"role": "assistant", "content": "", "reasoning": "let me see", "reasoning_details": [{}]}, provider="X"),
        ": OPENROUTER PROCESSING",
        chunk({"role": "assistant", "content": "one two", "reasoning": None}),
        {"choices": [{"delta": {"content": ""}, "finish_reason": "stop", "native_finish_reason": "STOP"}]},
        chunk({"role": "assistant", "content": ""}, usage={**USAGE, "cost": 0.1}),
        "data: [DONE]",
    ]


# Ollama, vLLM, llama.cpp and LM Studio ignore unknown parameters, also an unknown name of the cap.


def wrong_without(cap: str) -> Callable[[Body], tuple[int, Any] | None]:
    return lambda body: None if cap in body else (500, {"error": "an answer without end"})


def vllm_stream(body: Body) -> list[Any]:
    return [
        chunk({"role": "assistant", "content": "", "reasoning_content": None}),
        chunk({"reasoning_content": "let me see", "tool_calls": []}),
        chunk({"content": "one ", "tool_calls": []}),
        chunk({"content": "two", "tool_calls": []}, "stop", stop_reason=None),
        *usage_if_requested(body),
        "data: [DONE]",
    ]


def llamacpp_stream(body: Body) -> list[Any]:
    return [
        chunk({"role": "assistant", "content": None}),
        chunk({"content": "one "}),
        chunk({"content": "two"}),
        chunk({}, "stop", timings={"predicted_n": 3}),
        *usage_if_requested(body),
        "data: [DONE]",
    ]


ENDPOINTS: dict[str, Endpoint] = {
    "openai": Endpoint(wrong_for_openai, openai_stream),
    "anthropic": Endpoint(wrong_for_anthropic, plain_stream),
    "gemini": Endpoint(wrong_for_gemini, gemini_stream),
    "mistral": Endpoint(wrong_for_mistral, mistral_stream),
    "groq": Endpoint(wrong_for_groq, groq_stream),
    "openrouter": Endpoint(wrong_without("max_tokens"), openrouter_stream),
    "ollama": Endpoint(wrong_without("max_tokens"), plain_stream),
    "vllm": Endpoint(wrong_without("max_tokens"), vllm_stream),
    "llamacpp": Endpoint(wrong_without("max_tokens"), llamacpp_stream),
    "lmstudio": Endpoint(wrong_without("max_tokens"), plain_stream),
    "other": Endpoint(lambda body: None, plain_stream),
}
