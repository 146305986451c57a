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
    # Hosted services that fetch pictures from the internet.
    fetches_media: bool = False

    @property
    def needs_key(self) -> bool:
        return bool(self.api_key_env)

    @property
    def label(self) -> str | Promise:
        return self.name or self.kind.label


def _service(kind: ProviderKind, base_url: str, api_key_env: str, page: str, name: str = "") -> Preset:
    hint = format_lazy(_("Paste a key below; you make one at {page}."), page=page)
    return Preset(kind, name or str(kind.label), base_url, api_key_env, hint, fetches_media=True)


_OWN_SERVER_HINT = _("Your own server, without a key. Start it, and change the address if it runs elsewhere.")


def _own_server(kind: ProviderKind, name: str, base_url: str) -> Preset:
    return Preset(kind, name, base_url, "", _OWN_SERVER_HINT)


_OPENAI, _VLLM, _OTHER = ProviderKind.OPENAI, ProviderKind.VLLM, ProviderKind.OTHER
# The keys stand in addresses of the administration. Services of the kind OTHER are sent a model's parameters unchanged.
PRESETS: dict[str, Preset] = {
    "openai": _service(_OPENAI, "https://api.openai.com/v1", "OPENAI_API_KEY", "platform.openai.com"),
    "anthropic": _service(
        ProviderKind.ANTHROPIC, "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY", "console.anthropic.com"
    ),
    "gemini": _service(
        ProviderKind.GEMINI, "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY",
        "aistudio.google.com",
    ),
    "mistral": _service(ProviderKind.MISTRAL, "https://api.mistral.ai/v1", "MISTRAL_API_KEY", "console.mistral.ai"),
    "groq": _service(ProviderKind.GROQ, "https://api.groq.com/openai/v1", "GROQ_API_KEY", "console.groq.com"),
    "openrouter": _service(
        ProviderKind.OPENROUTER, "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", "openrouter.ai"
    ),
    "deepseek": _service(
        _OTHER, "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", "platform.deepseek.com", "DeepSeek"
    ),
    "qwen": _service(
        _OTHER, "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "DASHSCOPE_API_KEY",
        "modelstudio.console.alibabacloud.com", "Qwen",
    ),
    "xai": _service(_OTHER, "https://api.x.ai/v1", "XAI_API_KEY", "console.x.ai", "xAI"),
    "together": _service(_OTHER, "https://api.together.xyz/v1", "TOGETHER_API_KEY", "api.together.ai", "Together"),
    "cohere": _service(
        _OTHER, "https://api.cohere.ai/compatibility/v1", "COHERE_API_KEY", "dashboard.cohere.com", "Cohere"
    ),
    "azure": Preset(
        _OPENAI, "Azure OpenAI", "https://RESOURCE.openai.azure.com/openai/v1", "AZURE_OPENAI_API_KEY",
        _("Write your resource's name in the address and paste its key. Models are the names of your deployments."),
        fetches_media=True,
    ),
    "bedrock": Preset(
        _OTHER, "Amazon Bedrock", "https://bedrock-runtime.REGION.amazonaws.com/openai/v1", "BEDROCK_API_KEY",
        _("Write your region in the address, such as eu-central-1, and paste a Bedrock API key."),
    ),
    "ollama": _own_server(ProviderKind.OLLAMA, "Ollama", "http://127.0.0.1:11434/v1"),
    "vllm": _own_server(_VLLM, "vLLM", "http://127.0.0.1:8001/v1"),
    "llamacpp": _own_server(ProviderKind.LLAMACPP, "llama.cpp", "http://127.0.0.1:8080/v1"),
    "lmstudio": _own_server(ProviderKind.LM_STUDIO, "LM Studio", "http://127.0.0.1:1234/v1"),
    "sglang": _own_server(_VLLM, "SGLang", "http://127.0.0.1:30000/v1"),
    "litellm": Preset(
        _OTHER, "LiteLLM", "http://127.0.0.1:4000/v1", "LITELLM_API_KEY",
        _("Your own proxy. Paste one of its keys, and change the address if it runs elsewhere."),
    ),
    "other": Preset(
        _OTHER, "", "", "",
        _("Any server with OpenAI's chat completions API. Its documentation gives the base URL, which usually "
            "ends with /v1. Tick “needs a key” if it requires one."),
    ),
}  # fmt: skip
