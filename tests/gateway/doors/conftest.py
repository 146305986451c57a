from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest


@pytest.fixture
def messages(address: str, token: str) -> Iterator[Callable[..., httpx2.Response]]:
    """Send a body to Messages: `messages(slug, "one two", stream=True)`."""
    with httpx2.Client(base_url=address, headers={"x-api-key": token, "anthropic-version": "2023-06-01"}) as client:

        def send(slug: str, content: Any = "one two three", *, path: str = "", **fields: Any) -> httpx2.Response:
            asked = content if isinstance(content, list) else [{"role": "user", "content": content}]
            body = {"model": slug, "max_tokens": 100, "messages": asked, **fields}
            return client.post(f"/v1/messages{path}", json=body, timeout=60)

        yield send
