"""Kinds of providers and their dialects of OpenAI's chat completions.

Sources, read in autumn 2026: the providers' pages on OpenAI compatibility, and responses in public bug reports. A
refused parameter fails every call, so it is not sent.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from django.db import models
from django.utils.translation import gettext_lazy as _

from common.payload_types import JsonObject

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise


class ProviderKind(models.TextChoices):
    OPENAI = "openai", "OpenAI"
    ANTHROPIC = "anthropic", "Anthropic"
    GEMINI = "gemini", "Gemini"
    MISTRAL = "mistral", "Mistral"
    GROQ = "groq", "Groq"
    OPENROUTER = "openrouter", "OpenRouter"
    OLLAMA = "ollama", "Ollama"
    VLLM = "vllm", "vLLM"
    LLAMACPP = "llamacpp", "llama.cpp"
    LM_STUDIO = "lmstudio", "LM Studio"
    OTHER = "other", _("another OpenAI-compatible server")


def provider_kinds() -> list[tuple[str, "str | _StrPromise"]]:
    """Return the choices of a model's field; as a function, so that a new kind needs no migration."""
    return ProviderKind.choices


CAPS = frozenset({"max_tokens", "max_completion_tokens"})
SAMPLING = frozenset({"temperature", "top_p", "presence_penalty", "frequency_penalty"})
# Sent for callers of the gateway only.
TOOLING = frozenset({"tools", "tool_choice", "response_format"})
OPENAI_PARAMETERS = SAMPLING | TOOLING | {"seed", "stop", "reasoning_effort", "parallel_tool_calls"}
# Servers of the operator or of one machine: an address in a request would be fetched inside of their network.
LOCAL_KINDS = frozenset({ProviderKind.OLLAMA, ProviderKind.VLLM, ProviderKind.LLAMACPP, ProviderKind.LM_STUDIO})


@dataclass(frozen=True)
class ReasoningBack:
    """Way in which a model gets its earlier reasoning back. only_with_calls: in messages that call tools.

    fills_in: an empty one where another model made the calls.
    """

    field: str = "reasoning_content"
    only_with_calls: bool = True
    fills_in: bool = False


# Upstream names of models that refuse a tool's result, or forget their plan, without the reasoning before the call.
# DeepSeek's older ones refuse reasoning elsewhere; the others keep it in the whole conversation.
_ASK_WITH_CALLS = re.compile(r"deepseek|qwen|qwq|gpt-oss|nemotron|magistral|hunyuan|seed-oss", re.IGNORECASE)
_ASK_ALWAYS = re.compile(r"kimi|moonshot|minimax|mimo|glm-?(?:4\.[5-9]|[5-9])", re.IGNORECASE)


@dataclass(frozen=True)
class Dialect:
    """Translation of parameters, named as by OpenAI and llama.cpp here, for a kind of provider."""

    # The parameter that limits the answer's length; None: the name in the model's parameters.
    cap: str | None
    # Accepted parameters besides the cap; None: all.
    accepts: frozenset[str] | None
    # Upstream names of models that accept less, and the parameters that they refuse.
    exceptions: tuple[re.Pattern[str], frozenset[str]] | None = None
    temperature_or_top_p: bool = False
    renames: Mapping[str, str] = field(default_factory=dict)
    # Some refuse this option, but report the usage anyway.
    requests_usage: bool = True
    # Names under which it takes an opaque name of the caller.
    identities: frozenset[str] = frozenset()
    # Whether it can store answers, which a call of the gateway forbids.
    can_store: bool = False
    # Forms of messages that its servers always need, by their names in models_registry.providers.repairs.
    forms: tuple[str, ...] = ("developer → system",)
    # The field of earlier reasoning; "": it is refused, or of no use.
    reasoning: str = "reasoning_content"

    def reasoning_back(self, upstream_name: str) -> ReasoningBack | None:
        """Return None for a model that does not ask for its reasoning."""
        if not self.reasoning:
            return None
        if _ASK_ALWAYS.search(upstream_name):
            return ReasoningBack(self.reasoning, only_with_calls=False)
        return ReasoningBack(self.reasoning) if _ASK_WITH_CALLS.search(upstream_name) else None

    def body(self, upstream_name: str, parameters: JsonObject) -> JsonObject:
        """Return the request's body without the model, the messages and `stream`."""
        unsent = self.unsent(upstream_name, parameters)
        sent = {
            self.cap or name if name in CAPS else self.renames.get(name, name): value
            for name, value in parameters.items()
            if name not in unsent
        }
        return sent | ({"stream_options": {"include_usage": True}} if self.requests_usage else {})

    def unsent(self, upstream_name: str, parameters: JsonObject) -> list[str]:
        """Return names of parameters that would be refused or ignored."""
        unsent = set() if self.accepts is None else parameters.keys() - CAPS - self.accepts
        if self.exceptions and self.exceptions[0].match(upstream_name):
            unsent |= self.exceptions[1]
        if self.temperature_or_top_p and "temperature" in parameters:
            unsent.add("top_p")
        return [name for name in parameters if name in unsent]


DIALECTS: dict[ProviderKind, Dialect] = {
    # All models since o1 refuse `max_tokens`; older models accept the newer name, too.
    # Reasoning models accept neither sampling parameters nor stop sequences; their chat variants do.
    ProviderKind.OPENAI: Dialect(
        cap="max_completion_tokens",
        accepts=OPENAI_PARAMETERS
        | {"logit_bias", "logprobs", "top_logprobs", "verbosity", "prediction", "modalities", "store"}
        | {"user", "safety_identifier", "prompt_cache_key", "web_search_options"},
        identities=frozenset({"user", "safety_identifier", "prompt_cache_key"}),
        can_store=True,
        exceptions=(re.compile(r"o\d|gpt-[5-9](?!.*chat)"), SAMPLING | {"stop"}),
        forms=(),
        reasoning="",
    ),
    # Penalties, seed and effort are ignored. Models since Opus 4.7 refuse sampling parameters, models since Opus 4.1
    # refuse temperature and top_p together.
    ProviderKind.ANTHROPIC: Dialect(
        cap="max_tokens",
        accepts=frozenset({"temperature", "top_p", "stop", "tools", "tool_choice", "parallel_tool_calls", "thinking"}),
        exceptions=(re.compile(r"claude-[a-z]+-(?:4-[7-9](?!\d)|[5-9])"), SAMPLING),
        temperature_or_top_p=True,
        reasoning="",
    ),
    # Unknown parameters are refused with HTTP 400, “Unknown name”.
    ProviderKind.GEMINI: Dialect(
        cap="max_tokens",
        accepts=frozenset({"temperature", "top_p", "stop", "reasoning_effort"}) | TOOLING,
        reasoning="",
    ),
    # Unknown parameters, also `include_usage`, are refused with HTTP 422, “Extra inputs are not permitted”.
    ProviderKind.MISTRAL: Dialect(
        cap="max_tokens",
        accepts=OPENAI_PARAMETERS | {"random_seed", "prediction", "prompt_mode", "safe_prompt"},
        renames={"seed": "random_seed"},
        requests_usage=False,
        # “Unexpected role 'user' after role 'tool'”.
        forms=("developer → system", "bridge tool → user"),
        reasoning="",
    ),
    # Other parameters are refused as “property … is unsupported”.
    ProviderKind.GROQ: Dialect(
        cap="max_completion_tokens",
        accepts=OPENAI_PARAMETERS | {"reasoning_format", "include_reasoning", "disable_tool_validation", "user"},
        identities=frozenset({"user"}),
        reasoning="reasoning",
    ),
    ProviderKind.OPENROUTER: Dialect(
        cap="max_tokens",
        accepts=None,
        renames={"repeat_penalty": "repetition_penalty"},
        identities=frozenset({"user"}),
        reasoning="reasoning",
    ),
    # Its compatible endpoint ignores other parameters and the newer name of the cap, which would leave answers endless.
    ProviderKind.OLLAMA: Dialect(
        cap="max_tokens",
        accepts=(OPENAI_PARAMETERS - {"tool_choice"}) | {"reasoning", "think"},
        # “invalid message content type: <nil>”.
        forms=("developer → system", "null → text"),
        reasoning="reasoning",
    ),
    ProviderKind.VLLM: Dialect(cap="max_tokens", accepts=None, renames={"repeat_penalty": "repetition_penalty"}),
    ProviderKind.LLAMACPP: Dialect(cap="max_tokens", accepts=None),
    ProviderKind.LM_STUDIO: Dialect(
        cap="max_tokens",
        accepts=SAMPLING | TOOLING | {"top_k", "repeat_penalty", "seed", "stop", "logit_bias", "reasoning_effort"},
    ),
    ProviderKind.OTHER: Dialect(cap=None, accepts=None),
}

_HOSTS = {
    "api.openai.com": ProviderKind.OPENAI,
    "api.anthropic.com": ProviderKind.ANTHROPIC,
    "generativelanguage.googleapis.com": ProviderKind.GEMINI,
    "api.mistral.ai": ProviderKind.MISTRAL,
    "api.groq.com": ProviderKind.GROQ,
    "openrouter.ai": ProviderKind.OPENROUTER,
    "ollama.com": ProviderKind.OLLAMA,
}
# Azure serves a resource's models at a host of its own.
_HOST_SUFFIXES = {".openai.azure.com": ProviderKind.OPENAI, ".services.ai.azure.com": ProviderKind.OPENAI}
_PORTS = {11434: ProviderKind.OLLAMA, 1234: ProviderKind.LM_STUDIO}


@lru_cache(maxsize=1_000)
def guess_kind(base_url: str) -> ProviderKind:
    """Return OTHER if the address has no usual kind."""
    if base_url.startswith("${ARENA_LOCAL_MODEL_URL}"):
        return ProviderKind.LLAMACPP
    parts = urlsplit(base_url)
    host = parts.hostname or ""
    by_suffix = next((kind for suffix, kind in _HOST_SUFFIXES.items() if host.endswith(suffix)), None)
    return _HOSTS.get(host) or by_suffix or _PORTS.get(parts.port or 0) or ProviderKind.OTHER
