"""The last test of each model in Valkey: what its server sent, until the next test, KEPT at most."""

from collections.abc import Sequence

import msgspec

from common.valkey.connections import connection
from models_registry.health.oddities import KEPT
from models_registry.providers.oddities import Oddity


class ServerTest(msgspec.Struct):
    """at: seconds since 1970. error: a FailureCode, or ""."""

    at: float
    error: str = ""
    oddities: list[Oddity] = []
    repairs: list[str] = []
    finish_reason: str = ""


def _key(model_id: int) -> str:
    return f"server-test:{model_id}"


def store(model_id: int, test: ServerTest) -> None:
    """Raises one of common.valkey.connections.UNREACHABLE."""
    connection().set(_key(model_id), msgspec.json.encode(test).decode(), ex=KEPT)


def read(model_ids: Sequence[int]) -> dict[int, ServerTest]:
    """Return the last tests by model. Raises one of common.valkey.connections.UNREACHABLE."""
    stored = connection().mget([_key(pk) for pk in model_ids]) if model_ids else []
    pairs = zip(model_ids, stored, strict=True)
    return {pk: msgspec.json.decode(test, type=ServerTest) for pk, test in pairs if test is not None}
