"""Events and keys of turn streams, and the signed token that permits following one."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import msgspec
from django.core import signing

from common.errors import NotFound

EventName = Literal["text", "block", "state", "reset", "end"]
Format = Literal["page", "api", "test"]

STREAM_TTL_S = 3600
BEGINNING = "0-0"
FIELD = b"e"
DEFAULT_SIDES = ("left", "right")
_SALT = "battles.streaming.protocol"


class TurnEvent(msgspec.Struct, array_like=True):
    name: EventName
    side: str = ""
    value: str = ""


class StreamToken(NamedTuple):
    """Permission to follow one stream; checking it takes no query.

    format "test": the answer of a model under test; `battle` is the test's id.
    person: key for common.valkey.stream_slots. owner, token, since: of an accounts.open_streams.StreamRight.
    """

    battle: str
    turn_index: int
    format: Format
    regenerated: bool = False
    sides: Sequence[str] = DEFAULT_SIDES
    person: str = ""
    owner: str = ""
    token: int | None = None
    since: int = 0

    @property
    def key(self) -> str:
        if self.format == "test":
            return model_test_stream_key(self.battle)
        return stream_key(self.battle, self.turn_index, self.regenerated)


_encoder = msgspec.json.Encoder()


def stream_key(battle_public_id: str, turn_index: int, regenerated: bool = False) -> str:
    """Return the stream's key; a regenerated turn has a new stream, as the first one has ended."""
    return f"turn:{battle_public_id}:{turn_index}:{int(regenerated)}"


def model_test_stream_key(test_id: str) -> str:
    return f"model-test:{test_id}:stream"


def sign(token: StreamToken) -> str:
    return signing.dumps(list(token), salt=_SALT, compress=True)


def read_or_404(signed: str) -> StreamToken:
    """Raises NotFound for a forged or expired token."""
    try:
        return StreamToken(*signing.loads(signed, salt=_SALT, max_age=STREAM_TTL_S))
    except (signing.BadSignature, TypeError, ValueError) as error:
        raise NotFound from error


def entry(events: list[TurnEvent]) -> dict[Any, Any]:
    """Return the fields of a stream entry."""
    return {FIELD: _encoder.encode(events)}
