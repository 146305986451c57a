from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from models_registry.providers.kinds import ProviderKind


@dataclass(frozen=True)
class Preset:
    """Initial data for a new provider's form, with a hint where its key or server comes from."""

    kind: ProviderKind
    name: str
    base_url: str
    api_key_env: str
    hint: str | Promise

    @property
    def needs_key(self) -> bool:
        return bool(self.api_key_env)


def _service(kind: ProviderKind, base_url: str, api_key_env: str, page: str) -> Preset:
    hint = format_lazy(_("Paste a key below; you make one at {page}."), page=page)
    return Preset(kind, str(kind.label), base_url, api_key_env, hint)


_OWN_SERVER_HINT = _("Your own server, without a key. Start it, and change the address if it runs elsewhere.")
PRESETS = {
    preset.kind.value: preset
    for preset in [
        _service(ProviderKind.OPENAI, "https://api.openai.com/v1", "OPENAI_API_KEY", "platform.openai.com"),
        _service(ProviderKind.ANTHROPIC, "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY", "console.anthropic.com"),
        _service(
            ProviderKind.GEMINI, "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY",
            "aistudio.google.com",
        ),
        _service(ProviderKind.MISTRAL, "https://api.mistral.ai/v1", "MISTRAL_API_KEY", "console.mistral.ai"),
        _service(ProviderKind.GROQ, "https://api.groq.com/openai/v1", "GROQ_API_KEY", "console.groq.com"),
        _service(ProviderKind.OPENROUTER, "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", "openrouter.ai"),
        Preset(ProviderKind.OLLAMA, "Ollama", "http://127.0.0.1:11434/v1", "", _OWN_SERVER_HINT),
        Preset(ProviderKind.VLLM, "vLLM", "http://127.0.0.1:8001/v1", "", _OWN_SERVER_HINT),
        Preset(ProviderKind.LLAMACPP, "llama.cpp", "http://127.0.0.1:8080/v1", "", _OWN_SERVER_HINT),
        Preset(ProviderKind.LM_STUDIO, "LM Studio", "http://127.0.0.1:1234/v1", "", _OWN_SERVER_HINT),
        Preset(
            ProviderKind.OTHER, "", "", "",
            _("Any server with OpenAI's chat completions API. Its documentation gives the base URL, which usually "
                "ends with /v1. Tick “needs a key” if it requires one."),
        ),
    ]
}  # fmt: skip
