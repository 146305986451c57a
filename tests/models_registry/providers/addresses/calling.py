import asyncio

from models_registry.providers import ChatRequest, ProviderError
from models_registry.providers.openai_compatible import OpenAICompatible


def call(base_url: str, *, allows_private: bool | None = None) -> str:
    """Return the answer's text, or the code of the failure."""
    return calls(base_url, allows_private)[0]


def calls(base_url: str, *each_allows_private: bool | None) -> list[str]:
    """Return the outcomes of calls in turn by one provider, which keeps its connections."""

    async def call_all() -> list[str]:
        provider = OpenAICompatible()
        try:
            return [await _call(provider, base_url, allows_private) for allows_private in each_allows_private]
        finally:
            await provider.close()

    return asyncio.run(call_all())


async def _call(provider: OpenAICompatible, base_url: str, allows_private: bool | None) -> str:
    pieces: list[str] = []

    def receive(text: str, reasoning: str) -> float:
        pieces.append(text)
        return 0.0

    deadlines = dict.fromkeys(("connect", "first", "idle", "total"), 20.0)
    messages = [{"role": "user", "content": "one two"}]
    request = ChatRequest(base_url, "", "honest", messages, {}, deadlines, allows_private=allows_private)
    try:
        await provider.stream(request, receive)
    except ProviderError as error:
        return str(error.code)
    return "".join(pieces)
