"""Names of models as providers write them, matched with ecologits' list. A name that is not on it stays unknown."""

import re
from collections import defaultdict
from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ecologits.model_repository import Model

# Parts of paths that name who made or serves a model: openrouter/anthropic/claude-…, accounts/fireworks/models/….
_OWNERS = {
    "accounts", "anthropic", "azure", "azure_ai", "bedrock", "cerebras", "cohere", "coherelabs", "cohereforai",
    "databricks", "deepinfra", "fireworks", "fireworks_ai", "gemini", "google", "groq", "hf", "huggingface", "meta",
    "meta-llama", "microsoft", "mistral", "mistralai", "mistral-community", "models", "nvidia_nim", "openai",
    "openrouter", "publishers", "together", "together_ai", "vertex_ai",
}  # fmt: skip
# eu.anthropic.claude-…-v1:0
_BEDROCK = re.compile(
    r"(?:(?:us|us-gov|eu|apac|au|jp|global)\.)?(?:anthropic|cohere|google|meta|mistral|openai)\.(.+?)(?:-v\d+)?(?::\d+)?"
)
# OpenRouter's variants of one model.
_VARIANT = re.compile(r":(?:free|nitro|floor|beta|extended|thinking|online|exacto)$")
_DATE = re.compile(r"[-@](?:20\d{6}|20\d\d-\d\d-\d\d)$")
# Formats of the same weights: q4_K_M, awq, fp8.
_FORMAT = re.compile(r"-(?:i?q\d\w*|fp16|bf16|fp8|fp4|mxfp4|int[48]|[48]bit|awq|gptq|gguf)$")
# Groq and Together name their own formats of Llama's weights like this.
_SERVED_LLAMA = re.compile(r"(llama-.+-\d+b)(?:-instant|(-instruct)-(?:turbo|lite))$")


def find_known(upstream_name: str) -> "Model | None":
    """Return ecologits' entry for a provider's name of a model, or None."""
    return next((found for name in _spellings(upstream_name) if (found := _known_models().get(name))), None)


@lru_cache(maxsize=4096)
def _spellings(upstream_name: str) -> tuple[str, ...]:
    """Return the name and less exact spellings of it, in the form of `_known_models`; empty for an unknown owner."""
    *owners, name = upstream_name.strip().lower().split("/")
    if not _OWNERS.issuperset(owners):
        return ()
    if bedrock := _BEDROCK.fullmatch(name):
        name = bedrock[1]
    name = _canonical(_VARIANT.sub("", name).replace(":", "-"))
    without_format = _FORMAT.sub("", _SERVED_LLAMA.sub(r"\1\2", name))
    return tuple(dict.fromkeys([name, without_format, _DATE.sub("", without_format)]))


def _canonical(name: str) -> str:
    """Return the name with hyphens for points, and a hyphen between a family's name and its number."""
    name = re.sub(r"v(\d)p(\d)", r"\1.\2", name).replace(".", "-").removeprefix("meta-")
    return re.sub(r"^(llama|gemma|phi|codegemma|codellama)(?=\d)", r"\1-", name)


@cache
def _known_models() -> dict[str, "Model"]:
    """Return models by their canonical names, without names that models of different sizes share."""
    from ecologits.model_repository import models

    by_name: defaultdict[str, list[Model]] = defaultdict(list)
    for model in models.list_models():
        by_name[_canonical(model.name.lower().rpartition("/")[2])].append(model)
    return {name: found[0] for name, found in by_name.items() if len({str(it.architecture) for it in found}) == 1}
