"""One Valkey stream per turn: what is in it, and the signed token that lets somebody follow it."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import msgspec
from django.core import signing

from common.errors import NotFound

EventName = Literal["text", "block", "state", "reset", "end"]
Format = Literal["page", "api", "test"]

LIFETIME_S = 3600
BEGINNING = "0-0"
FIELD = b"e"
PAIR = ("left", "right")
_SALT = "battles.streaming.protocol"


class TurnEvent(msgspec.Struct, array_like=True):
    name: EventName
    side: str = ""
    value: str = ""


class StreamToken(NamedTuple):
    """What a reader may follow, signed: no query is needed to believe it.

    format "test": the answer of a model under test; `battle` is the test's id.
    person: the word by which common.valkey.stream_slots counts the reader's open streams.
    """

    battle: str
    turn_index: int
    format: Format
    round: int = 0
    sides: Sequence[str] = PAIR
    person: str = ""

    @property
    def key(self) -> str:
        if self.format == "test":
            return model_test_stream_key(self.battle)
        return stream_key(self.battle, self.turn_index, self.round)


_encoder = msgspec.json.Encoder()


def stream_key(battle_public_id: str, turn_index: int, round: int = 0) -> str:
    """Every round of a turn (it is regenerated at most once) has a stream of its own: the earlier one has ended."""
    return f"turn:{battle_public_id}:{turn_index}:{round}"


def model_test_stream_key(test_id: str) -> str:
    return f"model-test:{test_id}:stream"


def sign(token: StreamToken) -> str:
    return signing.dumps(list(token), salt=_SALT, compress=True)


def read_or_404(signed: str) -> StreamToken:
    """Raises NotFound for a forged token or one that is older than its hour."""
    try:
        return StreamToken(*signing.loads(signed, salt=_SALT, max_age=LIFETIME_S))
    except (signing.BadSignature, TypeError, ValueError) as error:
        raise NotFound from error


def entry(events: list[TurnEvent]) -> dict[Any, Any]:
    """The fields of the stream entry that carries `events`."""
    return {FIELD: _encoder.encode(events)}
