"""Names and figures against ecologits' own, without a database."""

import pytest
from django.utils import translation
from ecologits.tracers.utils import llm_impacts

from models_registry.energy import estimates
from models_registry.energy.checks import check_electricity_zone
from models_registry.energy.names import find_known
from models_registry.templatetags.energy import grams_of_co2e, watt_hours

LISTED = {
    "gpt-4o-2024-08-06": "a mixture of an unpublished size",
    "gpt-4.1-mini": "dense, of an unpublished size",
    "codestral-2508": "dense, with measured speed",
    "mistral-large-latest": "a mixture, with measured speed",
    "meta-llama/Meta-Llama-3.1-70B-Instruct": "dense, in any data centre",
    "mistralai/Mixtral-8x7B-Instruct-v0.1": "a mixture, in any data centre",
}
# People enter these with OpenAI, Azure, Anthropic, Bedrock, Gemini, Mistral, Groq, OpenRouter, Together, vLLM, Ollama.
USUAL = {
    "gpt-4o": "gpt-4o",
    "gpt-4o-2024-08-06": "gpt-4o-2024-08-06",
    "gpt-4o-mini": "gpt-4o-mini",
    "openai/gpt-4.1": "gpt-4.1",
    "gpt-4.1-nano": "gpt-4.1-nano",
    "gpt-5": "gpt-5",
    "openai/gpt-5-mini": "gpt-5-mini",
    "gpt-5.5": "gpt-5.5",
    "o3-mini": "o3-mini",
    "o4-mini-2025-04-16": "o4-mini-2025-04-16",
    "gpt-35-turbo": "gpt-35-turbo",
    "chatgpt-4o-latest": None,
    "openai/gpt-oss-120b": "openai/gpt-oss-120b",
    "gpt-oss:20b": "openai/gpt-oss-20b",
    "claude-sonnet-4-5": "claude-sonnet-4-5",
    "claude-haiku-4-5-20251001": "claude-haiku-4-5-20251001",
    "anthropic/claude-sonnet-4.5": "claude-sonnet-4-5",
    "claude-opus-4-6": "claude-opus-4-6",
    "us.anthropic.claude-haiku-4-5-20251001-v1:0": "claude-haiku-4-5-20251001",
    "anthropic.claude-3-5-sonnet-20241022-v2:0": None,
    "gemini-2.5-flash": "gemini-2.5-flash",
    "models/gemini-2.5-pro": "gemini-2.5-pro",
    "google/gemini-2.5-flash-lite": "gemini-2.5-flash-lite",
    "gemini-2.0-flash": None,
    "mistral-large-latest": "mistral-large-latest",
    "mistral-small-latest": "mistral-small-latest",
    "mistral-medium-latest": "mistral-medium-latest",
    "ministral-8b-latest": "ministral-8b-latest",
    "codestral-latest": "codestral-latest",
    "mistral-large-2411": None,
    "open-mistral-nemo": None,
    "mistralai/Mistral-7B-Instruct-v0.3": "mistralai/Mistral-7B-Instruct-v0.3",
    "mistralai/Mixtral-8x7B-Instruct-v0.1": "mistralai/Mixtral-8x7B-Instruct-v0.1",
    "meta-llama/Llama-3.1-8B-Instruct": "meta-llama/Meta-Llama-3.1-8B-Instruct",
    "meta-llama/llama-3.1-70b-instruct:free": "meta-llama/Meta-Llama-3.1-70B-Instruct",
    "meta-llama/Meta-Llama-3.1-8B-Instruct-Turbo": "meta-llama/Meta-Llama-3.1-8B-Instruct",
    "llama-3.1-8b-instant": "meta-llama/Meta-Llama-3.1-8B",
    "llama3.1:8b-instruct-q4_K_M": "meta-llama/Meta-Llama-3.1-8B-Instruct",
    "llama-3.3-70b-versatile": None,
    "llama3.2": None,
    "gemma2:9b": "google/gemma-2-9b",
    "gemma3:4b": None,
    "qwen2.5:7b": None,
    "Qwen/Qwen2.5-72B-Instruct": None,
    "deepseek-chat": None,
    "deepseek/deepseek-r1": None,
    "grok-4": None,
    "command-a-03-2025": "command-a-03-2025",
    "command-r-plus": None,
    "microsoft/Phi-3-mini-4k-instruct": "microsoft/Phi-3-mini-4k-instruct",
}


def found_name(upstream_name: str) -> str | None:
    known = find_known(upstream_name)
    return None if known is None else known.name


def test_usual_names_are_found_or_unknown():
    assert {name: found_name(name) for name in USUAL} == USUAL
    assert len(USUAL) == 50
    assert sum(known is not None for known in USUAL.values()) >= 30


@pytest.mark.parametrize(
    "name",
    [
        "acme/gpt-4", "gpt-4-finetuned", "my-gpt-4o", "ft:gpt-4o-2024-08-06:acme::x1", "gpt", "", "/", "gpt-4o/",
        "/gpt-4o", "openai/", "gpt-4o mini", "llama3.1", "mistral-large-2411", "anthropic.", "x" * 200, "gpt‐4o",
        "ｇｐｔ-4o",
    ],
)  # fmt: skip
def test_similar_name_is_unknown(name: str):
    assert find_known(name) is None


@pytest.mark.parametrize("zone", ["WOR", "FRA"])
@pytest.mark.parametrize("name", LISTED, ids=LISTED.values())
def test_figures_equal_those_of_ecologits(name: str, zone: str, settings):
    settings.ARENA_ELECTRICITY_ZONE = zone
    known = find_known(name)
    assert known is not None
    architecture = estimates._architecture(known)
    for tokens in (1, 37, 1_000, 50_000):
        for total_s in (None, 0.02, 2.5, 4_000):
            ours = estimates.estimate_tokens(architecture, tokens, total_s)
            theirs = llm_impacts(known.provider.value, known.name, tokens, total_s, electricity_mix_zone=zone)
            for bounds, figure in ((ours.wh, theirs.energy), (ours.co2e_g, theirs.gwp)):
                expected = [1000 * bound for bound in estimates._range(figure.value)]
                assert bounds == pytest.approx(expected, rel=1e-6), (tokens, total_s)


def test_unknown_zone_is_a_problem_and_pages_go_on(settings):
    assert check_electricity_zone() == []
    architecture = estimates.Architecture((8, 8), (8, 8))
    in_world = estimates.estimate_tokens(architecture, 1_000, None)
    settings.ARENA_ELECTRICITY_ZONE = "XXX"
    assert [problem.id for problem in check_electricity_zone()] == ["models_registry.E001"]
    assert estimates.estimate_tokens(architecture, 1_000, None) == in_world
    settings.ARENA_ELECTRICITY_ZONE = "FRA"
    assert check_electricity_zone() == []


@pytest.mark.parametrize(
    ("low", "high", "english", "french"),
    [
        (0.4012, 0.7499, "0.4–0.75", "0,4–0,75"), (0.29, 0.2901, "0.29", "0,29"),
        (0.00512, 12.6, "0.0051–13", "0,0051–13"), (123.4, 99_999, "120–100000", "120–100000"),
        (0, 0, "0", "0"), (0.0996, 1.04, "0.1–1", "0,1–1"),
    ],
)  # fmt: skip
def test_range_has_two_digits(low: float, high: float, english: str, french: str):
    energy = {"wh_low": low, "wh_high": high, "co2e_g_low": low, "co2e_g_high": high}
    for language, text in (("en", english), ("fr", french)):
        with translation.override(language):
            assert watt_hours(energy) == f"{text}\N{NO-BREAK SPACE}Wh"
            assert grams_of_co2e(energy) == f"{text}\N{NO-BREAK SPACE}g\N{NO-BREAK SPACE}CO₂e"
