import asyncio

from models_registry.providers import ChatRequest, ProviderError
from models_registry.providers.openai_compatible import OpenAICompatible


def call(base_url: str) -> str:
    """Return the answer's text, or the code of the failure."""
    pieces: list[str] = []

    def receive(text: str, reasoning: str) -> float:
        pieces.append(text)
        return 0.0

    async def call_one() -> None:
        provider = OpenAICompatible()
        deadlines = dict.fromkeys(("connect", "first", "idle", "total"), 20.0)
        messages = [{"role": "user", "content": "one two"}]
        try:
            await provider.stream(ChatRequest(base_url, "", "honest", messages, {}, deadlines), receive)
        finally:
            await provider.close()

    try:
        asyncio.run(call_one())
    except ProviderError as error:
        return str(error.code)
    return "".join(pieces)
