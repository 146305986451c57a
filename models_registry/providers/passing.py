"""Fields of a request beside its messages: those that go out, and those that never do.

Read in autumn 2026: the references of OpenAI, OpenRouter, Mistral, Groq, vLLM, SGLang and llama.cpp.
"""

import re

from common.payload_types import Json, JsonObject

# Values of these are numbers, words, and objects and lists of them.
PLAIN = frozenset({
    "temperature", "top_p", "top_k", "top_a", "min_p", "typical_p", "tfs_z", "n_sigma", "top_n_sigma", "seed",
    "random_seed", "presence_penalty", "frequency_penalty", "repetition_penalty", "repeat_penalty", "repeat_last_n",
    "length_penalty", "dry_multiplier", "dry_base", "dry_allowed_length", "dry_penalty_last_n", "xtc_probability",
    "xtc_threshold", "mirostat", "mirostat_tau", "mirostat_eta", "dynatemp_range", "dynatemp_exponent", "samplers",
    "min_keep", "min_tokens", "ignore_eos", "logit_bias", "logprobs", "top_logprobs", "parallel_tool_calls",
    "reasoning", "reasoning_effort", "reasoning_format", "reasoning_split", "include_reasoning", "thinking",
    "thinking_budget", "thinking_config", "thinking_token_budget", "think", "enable_thinking", "chat_template_kwargs",
    "verbosity", "modalities", "prompt_mode", "safe_prompt", "usage", "add_generation_prompt",
    "continue_final_message", "skip_special_tokens", "spaces_between_special_tokens", "include_stop_str_in_output",
    "no_stop_trim", "stop_token_ids", "truncate_prompt_tokens", "disable_tool_validation", "guided_whitespace_pattern",
})  # fmt: skip
# Texts and schemas: anything goes through, and is moderated and reserved.
TEXTS = frozenset({
    "stop", "tool_choice", "response_format", "prediction", "json_schema", "grammar", "guided_json", "guided_regex",
    "guided_choice", "guided_grammar", "structured_outputs", "regex", "ebnf", "structural_tag", "dry_sequence_breakers",
    "bad_words",
})  # fmt: skip
# Replaced by a keyed digest where the dialect takes them.
IDENTITIES = frozenset({"user", "safety_identifier", "prompt_cache_key"})
# Read by the arena itself.
READ = frozenset({
    "model", "messages", "tools", "max_tokens", "max_completion_tokens", "n", "stream", "stream_options", "metadata",
    "web_search_options", *IDENTITIES,
})  # fmt: skip
# Names that an administrator may not add: fields that name addresses, keys, models or stored things, raise the cost
# of a call above its reservation, or change the server.
_NEVER = re.compile(
    r"(?:^|_)(?:urls?|uris?|hosts?|ports?|address(?:es)?|endpoints?|base|path|files?|dirs?|keys?|secrets?|passwords?"
    r"|credentials?|auth|authorization|headers?|cookies?|proxy|proxies|webhooks?|callbacks?|ids?|containers?|models?"
    r"|routes?|routing|providers?|fallbacks?|plugins?|plug_ins|transforms?|tiers?|background|store|stored|metadata"
    r"|agents?|assistants?|conversations?|threads?|prompts?|extra|options|search|searches|crawl|documents?|mcp|lora"
    r"|loras|adapters?|template|salt|cached|cache|priority|kv|audio|voice|images?|video|best_of|beams?|beam_search"
    r"|echo|keep_alive|slots?|n_predict|num_predict|predict|new_tokens|output_tokens|max_length|max_tokens|num_ctx"
    r"|choices|samples|batch|retention|compound|user|moderation|safety_settings|io|mm)(?:_|$)"
)
# Names that the settings of a provider's own tool may not have.
_REFERENCE = re.compile(
    r"(?:^|_)(?:urls?|uris?|hosts?|endpoints?|keys?|secrets?|tokens?|auth|authorization|headers?|ids?|containers?|files?"
    r"|models?|stores?|connectors?|callbacks?)(?:_|$)"
)
# Words, numbers and codes of languages: neither dots nor colons nor slashes, of which addresses consist.
_WORD = re.compile(r"[\w ,+-]{0,64}|-?\d+\.\d+")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")


def may_be_added(name: str) -> bool:
    """Return whether an administrator may have a provider receive the field."""
    return bool(_NAME.fullmatch(name)) and not (is_never_sent(name) or name in READ)


def is_never_sent(name: str) -> bool:
    return name not in PLAIN | TEXTS and _NEVER.search(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()) is not None


def plain(name: str, value: Json, dropped: list[str]) -> Json:
    """Return the value without entries that could name an address or what is never sent; None if nothing is left."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str) and _WORD.fullmatch(value):
        return value
    if isinstance(value, list):
        entries = [entry for entry in value if plain(name, entry, []) == entry]
        if len(entries) < len(value):
            dropped.append(name)
        return entries or None
    if isinstance(value, dict):
        kept_fields: JsonObject = {}
        for key, entry in value.items():
            if not _WORD.fullmatch(key) or is_never_sent_inside(key):
                dropped.append(f"{name}.{key}")
            elif (sent := plain(f"{name}.{key}", entry, dropped)) is not None:
                kept_fields[key] = sent
        return kept_fields or None
    dropped.append(name)
    return None


def is_never_sent_inside(name: str) -> bool:
    return name not in ("max_tokens", "effort") and is_never_sent(name)


def names_nothing(value: Json) -> bool:
    """Return whether the settings of a provider's tool name no address, key, model or stored thing."""
    if isinstance(value, str):
        return bool(_WORD.fullmatch(value))
    if isinstance(value, dict):
        return not any(map(_REFERENCE.search, value)) and all(map(names_nothing, value.values()))
    return all(map(names_nothing, value)) if isinstance(value, list) else True
