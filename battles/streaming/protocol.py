"""Events and keys of turn streams, and the signed token that permits following one."""

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from accounts.open_streams import StreamToken

EventName = Literal["text", "block", "form", "whole", "state", "reset", "end"]
Format = Literal["page", "api", "test"]

STREAM_TTL_S = 3600
BEGINNING = "0-0"
FIELD = b"e"
DEFAULT_SIDES = ("left", "right")


# form: the open text once more, as HTML; whole: a complete answer while another one grows.
EVENTS_OF_PAGES = {"form", "whole"}


class TurnEvent(msgspec.Struct, array_like=True):
    name: EventName
    side: str = ""
    value: str = ""


class TurnToken(StreamToken, frozen=True):
    """Permission to follow a turn.

    format "test": the answer of a model under test; `battle` is the test's id.
    """

    SALT = "battles.streaming.protocol"
    TTL_S = STREAM_TTL_S

    battle: str
    turn_index: int
    format: Format
    regenerated: bool = False
    sides: Sequence[str] = DEFAULT_SIDES

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


def entry(events: list[TurnEvent]) -> dict[Any, Any]:
    """Return the fields of a stream entry."""
    return {FIELD: _encoder.encode(events)}
