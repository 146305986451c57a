"""Software that uses the gateway: its tokens, clients and requests."""

from typing import Any

from openai import OpenAI

from accounts.actor import Actor
from accounts.models import Scope
from battles.models import Call
from tests import make

ASKED: Any = [{"role": "user", "content": "one two three"}]
WEATHER: Any = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "Return the weather of a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}


def issue_token(owner: Actor, *scopes: Scope, **options: bool) -> str:
    """Return a token with the scope of the gateway, or with these."""
    assert owner.user is not None
    return make.token(owner.user, scopes=scopes or (Scope.GATEWAY,), **options)


def openai_client(address: str, token: str) -> OpenAI:
    return OpenAI(base_url=f"{address}/v1", api_key=token, max_retries=0, timeout=60)


def settled() -> bool:
    return not Call.objects.unfinished().exists()
