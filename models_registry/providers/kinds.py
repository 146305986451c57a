"""What each kind of provider takes in a request: all speak OpenAI's chat completions, each with its own dialect.

Sources, read in autumn 2026: the providers' own pages on OpenAI compatibility, and what their endpoints answered
in public bug reports. What a provider refuses fails every call, so what it does not take is left out.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from django.db import models
from django.utils.translation import gettext_lazy as _

from common.payload_types import JsonObject


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


CAPS = frozenset({"max_tokens", "max_completion_tokens"})
SAMPLING = frozenset({"temperature", "top_p", "presence_penalty", "frequency_penalty"})
OPENAIS = SAMPLING | {"seed", "stop", "reasoning_effort"}


@dataclass(frozen=True)
class Dialect:
    """How a kind of provider wants the parameters that we know under OpenAI's and llama.cpp's names."""

    # Under which name an answer's length is limited; None: under the name the model's parameters use.
    cap: str | None
    # What it takes besides the cap; None: whatever the model's parameters say.
    takes: frozenset[str] | None
    # Upstream names of models that take less, and what they do not take.
    but_not: tuple[re.Pattern[str], frozenset[str]] | None = None
    temperature_or_top_p: bool = False
    renames: Mapping[str, str] = field(default_factory=dict)
    # Some refuse to be asked for the usage, and send it anyway.
    asks_for_usage: bool = True

    def body(self, upstream_name: str, parameters: JsonObject) -> JsonObject:
        """What is sent beside the model, the messages and `stream`."""
        unsent = self.unsent(upstream_name, parameters)
        sent = {self._name_of(name): value for name, value in parameters.items() if name not in unsent}
        return sent | ({"stream_options": {"include_usage": True}} if self.asks_for_usage else {})

    def unsent(self, upstream_name: str, parameters: JsonObject) -> list[str]:
        """Which of `parameters` are not sent, because they would be refused or ignored."""
        unsent = set() if self.takes is None else parameters.keys() - CAPS - self.takes
        if self.but_not and self.but_not[0].match(upstream_name):
            unsent |= self.but_not[1]
        if self.temperature_or_top_p and "temperature" in parameters:
            unsent.add("top_p")
        return [name for name in parameters if name in unsent]

    def _name_of(self, name: str) -> str:
        return self.cap or name if name in CAPS else self.renames.get(name, name)


DIALECTS: dict[ProviderKind, Dialect] = {
    # `max_tokens` is refused by everything since o1; the newer name is taken by the older models too.
    # Reasoning models know only their own temperature, and no stop sequences; their chat variants sample.
    ProviderKind.OPENAI: Dialect(
        cap="max_completion_tokens",
        takes=OPENAIS,
        but_not=(re.compile(r"o\d|gpt-[5-9](?!.*chat)"), SAMPLING | {"stop"}),
    ),
    # Penalties, seed and effort are ignored. Models since Opus 4.7 refuse to be sampled, those since Opus 4.1
    # to be given both a temperature and a top_p.
    ProviderKind.ANTHROPIC: Dialect(
        cap="max_tokens",
        takes=frozenset({"temperature", "top_p", "stop"}),
        but_not=(re.compile(r"claude-[a-z]+-(?:4-[7-9](?!\d)|[5-9])"), SAMPLING),
        temperature_or_top_p=True,
    ),
    # Anything it has no field for is HTTP 400, “Unknown name”.
    ProviderKind.GEMINI: Dialect(
        cap="max_tokens", takes=frozenset({"temperature", "top_p", "stop", "reasoning_effort"})
    ),
    # Anything it has no field for is HTTP 422, “Extra inputs are not permitted”, `include_usage` among them.
    ProviderKind.MISTRAL: Dialect(
        cap="max_tokens", takes=OPENAIS, renames={"seed": "random_seed"}, asks_for_usage=False
    ),
    # Anything else is “property … is unsupported”.
    ProviderKind.GROQ: Dialect(cap="max_completion_tokens", takes=OPENAIS),
    ProviderKind.OPENROUTER: Dialect(cap="max_tokens", takes=None, renames={"repeat_penalty": "repetition_penalty"}),
    # Its compatible endpoint ignores other samplers, and the newer name of the cap: then nothing ends an answer.
    ProviderKind.OLLAMA: Dialect(cap="max_tokens", takes=OPENAIS),
    ProviderKind.VLLM: Dialect(cap="max_tokens", takes=None, renames={"repeat_penalty": "repetition_penalty"}),
    ProviderKind.LLAMACPP: Dialect(cap="max_tokens", takes=None),
    ProviderKind.LM_STUDIO: Dialect(cap="max_tokens", takes=SAMPLING | {"top_k", "repeat_penalty", "seed", "stop"}),
    ProviderKind.OTHER: Dialect(cap=None, takes=None),
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
_PORTS = {11434: ProviderKind.OLLAMA, 1234: ProviderKind.LM_STUDIO}


def guess_kind(base_url: str) -> ProviderKind:
    """The kind that usually answers at this address; OTHER when it could be anything."""
    if base_url.startswith("${ARENA_LOCAL_MODEL_URL}"):
        return ProviderKind.LLAMACPP
    parts = urlsplit(base_url)
    return _HOSTS.get(parts.hostname or "") or _PORTS.get(parts.port or 0) or ProviderKind.OTHER
