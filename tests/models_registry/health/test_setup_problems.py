"""Facts about a model's calls become sentences that name one field each."""

from dataclasses import replace

import pytest

from models_registry.health.setup_problems import Facts, Problem, find_problems
from models_registry.models import LanguageModel, Provider
from models_registry.providers import FailureCode
from models_registry.providers.oddities import Oddity

WELL = Facts(
    base_url="https://models.example.org/v1", chosen_kind="", needs_key=False, has_key=False, has_price=True,
    needs_finish=True, context=8_000, listed_context=None, abilities=frozenset(), oddities=frozenset(),
    failures=frozenset(), refused_tokens=None, repairs=(), ends_by_length=False,
)  # fmt: skip
TABLE: dict[str, tuple[dict[str, object], str, str]] = {
    "tags in the text": ({"oddities": {Oddity.TAGGED_REASONING}}, "model.parameters", "reasoning parser"),
    "unopened tag": ({"oddities": {Oddity.UNOPENED_REASONING}}, "model.parameters", "reasoning parser"),
    "channels": ({"oddities": {Oddity.CHANNELS}}, "model.parameters", "reasoning parser"),
    "only reasoning": ({"failures": {"only_reasoning"}}, "model.parameters", "reasoning parser"),
    "context below the list": ({"listed_context": 9_000}, "", ""),
    "context above the list": ({"listed_context": 4_096}, "model.context_length", "4096 tokens"),
    "context unknown, listed": ({"context": None, "listed_context": 4_096}, "model.context_length", "4096 tokens"),
    "context unknown": ({"context": None}, "", ""),
    "context unknown, too long": ({"context": None, "refused_tokens": 900}, "model.context_length", "about 900"),
    "too long below context": ({"refused_tokens": 5_000}, "model.context_length", "though 8000 are entered"),
    "too long above context": ({"refused_tokens": 9_000}, "", ""),
    "no stream": ({"oddities": {Oddity.NO_EVENT_STREAM}}, "provider.base_url", "turn streaming on"),
    "a page": ({"failures": {"not_a_stream"}}, "provider.base_url", "answers with a page"),
    "hosted, no price": ({"needs_key": True, "has_key": True, "has_price": False}, "model.prices", "enter its price"),
    "own server, no price": ({"has_price": False}, "", ""),
    "no usage": ({"oddities": {Oddity.NO_USAGE}}, "provider.kind", "reports no tokens"),
    "no usage, no price": ({"oddities": {Oddity.NO_USAGE}, "has_price": False}, "", ""),
    "usage too high": ({"oddities": {Oddity.USAGE_TOO_HIGH}}, "provider.daily_budget", "compare its bill"),
    "usage too low": ({"oddities": {Oddity.USAGE_TOO_LOW}}, "provider.daily_budget", "compare its bill"),
    "another API": ({"failures": {"another_api"}}, "provider.base_url", "speaks another API"),
    "kind of another address": (
        {"chosen_kind": "vllm", "base_url": "https://api.openai.com/v1"}, "provider.kind", "that of OpenAI"
    ),
    "kind of its address": ({"chosen_kind": "openai", "base_url": "https://api.openai.com/v1"}, "", ""),
    "kind of no usual address": ({"chosen_kind": "openai"}, "", ""),
    "cap of another kind": (
        {"chosen_kind": "vllm", "repairs": ("max_tokens → max_completion_tokens",)}, "provider.kind", "such as OpenAI"
    ),
    "newer cap refused": (
        {"chosen_kind": "openai", "repairs": ("max_completion_tokens → max_tokens",)}, "provider.kind", "such as vLLM"
    ),
    "cap of parameters": (
        {"repairs": ("max_completion_tokens → max_tokens",)}, "model.parameters", "write “max_tokens”"
    ),
    "cap too high": ({"repairs": ("max_tokens ≤ 300",)}, "model.parameters", "lower “max_tokens” to 300"),
    "parameter refused": ({"repairs": ("-temperature",)}, "model.parameters", "refuses “temperature”: remove it"),
    "stream_options refused": ({"repairs": ("-stream_options",)}, "repair", "keep the repair as a setting"),
    "roles refused": ({"repairs": ("system → user", "merge roles")}, "", ""),
    "no key": ({"needs_key": True}, "provider.key", "key is missing"),
    "refused key": ({"failures": {"refused_key"}}, "provider.key", "refuses the key"),
    "forbidden": ({"failures": {"forbidden"}}, "provider.key", "may use this model"),
    "no credit": ({"failures": {"account"}}, "provider.key", "no credit"),
    "address": ({"failures": {"unknown_address"}}, "provider.base_url", "correct the address"),
    "redirect": ({"failures": {"redirected"}}, "provider.base_url", "has moved"),
    "away": ({"failures": {"unreachable"}, "base_url": "http://127.0.0.1:8000"}, "provider.base_url", "start it"),
    "address without path": (
        {"failures": {"unknown_address"}, "base_url": "http://127.0.0.1:8000/"}, "provider.base_url", "“/v1” at its end"
    ),
    "name": ({"failures": {"unknown_model"}}, "model.upstream_name", "a name of its list"),
    "cap": ({"ends_by_length": True}, "model.parameters", "raise “max_tokens”"),
    "no room": ({"failures": {"no_room"}}, "model.parameters", "raise the limit"),
    "pictures": ({"oddities": {Oddity.IMAGES_REFUSED}, "abilities": {"images"}}, "model.abilities", "refuses pictures"),
    "pictures without ability": ({"oddities": {Oddity.IMAGES_REFUSED}}, "", ""),
    "tools": ({"oddities": {Oddity.TOOLS_REFUSED}, "abilities": {"tools"}}, "model.abilities", "refuses tools"),
    "no finish": ({"oddities": {Oddity.NO_FINISH}}, "provider.finish_reason_required", "why answers end"),
    "no finish, accepted": ({"oddities": {Oddity.NO_FINISH}, "needs_finish": False}, "", ""),
    "slow": ({"failures": {"first_timeout"}}, "provider.first_s", "keep its model loaded"),
    "busy": ({"failures": {"rate_limited"}}, "provider.calls_at_once", "fewer calls"),
    "part": ({"failures": {"unsupported"}}, "provider.kind", "refuses a part"),
    "other failure": ({"failures": {"provider_error"}}, "test", "(provider_error)"),
    "prompts": ({"failures": {"prompt_too_long", "filtered", "interrupted"}}, "", ""),
    "habits": ({"oddities": {Oddity.HEARTBEAT, Oddity.ODD_VALUE, Oddity.LATE_ERROR}}, "", ""),
}  # fmt: skip


@pytest.mark.parametrize(("changes", "field", "words"), TABLE.values(), ids=TABLE)
def test_facts_give_one_sentence_and_field(changes: dict[str, object], field: str, words: str):
    problems = find_problems(replace(WELL, **changes))  # type: ignore[arg-type]
    assert [problem.field for problem in problems] == [field] * bool(field)
    assert words in "".join(problem.sentence for problem in problems)


def test_model_without_problems_has_none():
    assert find_problems(WELL) == []


def test_every_failure_is_explained_or_none():
    for code in FailureCode:
        problems = find_problems(replace(WELL, failures=frozenset({code})))
        assert len(problems) <= 1
        assert all(isinstance(problem, Problem) and problem.sentence.endswith(".") for problem in problems)


def test_every_field_is_in_a_form():
    shown = {"provider.key", "model.prices"}
    for of, rows in (("provider", Provider), ("model", LanguageModel)):
        shown |= {f"{of}.{field.name}" for field in rows._meta.fields}
    fields = {field for _, field, _ in TABLE.values()} - {"", "test", "repair"}
    assert fields <= shown
