"""Calls to the embedded model, a real llama.cpp server."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings as site

from arena_site.embedded.local_model import NAME, LocalModel
from arena_site.supervisor.child import Child
from models_registry.models import LanguageModel, Provider
from models_registry.providers import ChatRequest, Completion, FailureCode, ProviderError
from models_registry.providers.openai_compatible import OpenAICompatible
from tests.models_registry.providers.test_kinds import EVERYTHING
from tests.worlds.arena import free_port

pytestmark = [pytest.mark.processes, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    model = LocalModel(free_port())  # the port stays free until the server listens, seconds later
    child = Child(model.prepare(Path(site.BASE_DIR)), tmp_path_factory.mktemp("logs"))
    try:
        child.wait_until_ready(within=60)
        yield model.url
    finally:
        child.stop(within=5)


def ask(url: str, prompt: str, parameters: dict[str, object], *, first: float = 240) -> tuple[Completion, str]:
    """The default of `first` allows for a busy machine that still reads the long prompt of an earlier test."""
    model = LanguageModel(
        provider=Provider(base_url=url, kind="llamacpp"), upstream_name=NAME, parameters=parameters
    )  # fmt: skip
    pieces: list[str] = []

    def receive(text: str, reasoning: str) -> float:
        pieces.append(text)
        return 0.0

    async def call() -> Completion:
        provider = OpenAICompatible()
        request = ChatRequest(
            base_url=url, key="", model=NAME, messages=[{"role": "user", "content": prompt}],
            parameters=model.sent_parameters, deadlines={"connect": 5, "first": first, "idle": 120, "total": 500},
        )  # fmt: skip
        try:
            return await provider.stream(request, receive)
        finally:
            await provider.close()

    return asyncio.run(call()), "".join(pieces)


def test_local_model_accepts_all_parameters_and_counts_tokens(url: str):
    parameters = {**EVERYTHING, "reasoning_format": "deepseek", "max_tokens": 12}
    completion, text = ask(url, "Count from one to five.", parameters)
    assert text.strip()
    assert completion.finish_reason == "length"
    assert completion.completion_tokens == 12
    assert completion.prompt_tokens is not None
    assert completion.prompt_tokens > 5


def test_same_seed_gives_same_answer(url: str):
    parameters = {"temperature": 1.0, "seed": 7, "max_tokens": 16}
    assert ask(url, "Tell me a story.", parameters)[1] == ask(url, "Tell me a story.", parameters)[1]


def test_prompt_beyond_context_fails_as_too_long(url: str):
    with pytest.raises(ProviderError) as refusal:
        ask(url, "salt " * 12_000, {"max_tokens": 4})
    assert refusal.value.code is FailureCode.PROMPT_TOO_LONG


@pytest.mark.slow
def test_slow_prompt_ends_at_first_token_deadline(url: str):
    with pytest.raises(ProviderError) as late:
        ask(url, "sea salt " * 300, {"max_tokens": 4}, first=0.1)
    assert late.value.code is FailureCode.FIRST_TIMEOUT
