import time
from collections.abc import AsyncIterator
from typing import ClassVar, Self, TypedDict

import msgspec
from django.core import signing
from django.http import HttpRequest

from accounts.open_streams import right_of_request, until_lost
from common import sse
from common.errors import NotFound
from common.valkey.stream_slots import person_hash


class _Reader(TypedDict):
    person: str
    owner: str
    token: int | None
    since: int


class StreamToken(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True, kw_only=True):
    """Signed permission to follow one stream, part of its address; checking it takes no query.

    person: key for common.valkey.stream_slots. owner, token, since: of an accounts.open_streams.StreamRight.
    """

    SALT: ClassVar[str]
    TTL_S: ClassVar[int]

    person: str = ""
    owner: str = ""
    token: int | None = None
    since: int = 0

    def signed(self) -> str:
        return signing.dumps(msgspec.to_builtins(self), salt=self.SALT, compress=True)

    @classmethod
    def read_or_404(cls, signed: str) -> Self:
        """Raises NotFound for a forged or expired token."""
        try:
            return msgspec.convert(signing.loads(signed, salt=cls.SALT, max_age=cls.TTL_S), cls)
        except (signing.BadSignature, ValueError) as error:
            raise NotFound from error

    def response(
        self, request: HttpRequest, events: AsyncIterator[bytes], *, needs_staff: bool = False
    ) -> sse.EventStreamResponse:
        """Stream the events; send `end` when the right to them is lost. Raises TooManyStreams."""
        right = right_of_request(
            request, person=self.owner, token=self.token, since=self.since, needs_staff=needs_staff
        )
        return sse.EventStreamResponse(request, until_lost(events, right, last=sse.end), person=self.person)


def reader_fields(owner: str, token: int | None = None) -> _Reader:
    """Return the fields of a StreamToken for a person who may read from now on. owner: Actor.key, or ""."""
    return {"person": person_hash(owner), "owner": owner, "token": token, "since": int(time.time())}
