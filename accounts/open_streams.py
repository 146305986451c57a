"""Rights behind open streams: a stream ends within seconds of their loss.

One task for each event loop reads the rights of all its streams from PostgreSQL, so a stream makes no query of its own
and needs no Valkey. While PostgreSQL is away no right can be lost, and streams go on.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Iterable, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field
from typing import ClassVar, Self, TypedDict, TypeVar
from weakref import WeakKeyDictionary

import msgspec
from django.conf import settings
from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.models import Session as BrowserSession
from django.core import signing
from django.db import Error
from django.db.models import Model
from django.db.models.functions import Now
from django.http import HttpRequest

from accounts.models import ApiToken, Ban, Scope, TeamMember, User
from accounts.teams.roles import Right, has_right
from common import sse
from common.db.execution import run_in_db
from common.errors import NotFound
from common.prepared import PreparedQuery, any_of
from common.valkey.stream_slots import person_hash

M = TypeVar("M", bound=Model)

logger = logging.getLogger(__name__)

INTERVAL_S = 2.0
# A page that was read before a block may have signed its stream's address after it.
OVERLAP_S = 5.0
_bans = PreparedQuery(lambda: Ban.objects.in_force().filter(network=""))
_users = PreparedQuery(lambda ids: User.objects.filter(any_of("id", ids), is_active=True), list)
_members = PreparedQuery(lambda ids: TeamMember.objects.active().filter(any_of("user_id", ids)), list)
_tokens = PreparedQuery(lambda ids: ApiToken.objects.usable().filter(any_of("id", ids)), list)


@dataclass(eq=False)
class StreamRight:
    """Right to go on with one stream.

    person: Actor.key, "" for all readers. token: id of the ApiToken that asked for the stream. session_key: of the
    browser that follows it. team: whose members may follow it. since: from then on a block of the person ends it;
    blocked people may still read.
    """

    person: str = ""
    token: int | None = None
    session_key: str = ""
    team: int | None = None
    scope: Scope = Scope.READ
    needs_staff: bool = False
    since: float = field(default_factory=time.time)
    is_lost: bool = False
    task: "asyncio.Task[object] | None" = None

    @property
    def user_id(self) -> int | None:
        kind, _, number = self.person.partition(":")
        return int(number) if kind == "user" else None

    def is_person_of(self, ban: Ban) -> bool:
        return self.person in (f"user:{ban.user_id}", f"visitor:{ban.visitor_id}")


def right_of_request(
    request: HttpRequest,
    *,
    person: str,
    token: int | None = None,
    team: int | None = None,
    since: float = 0,
    needs_staff: bool = False,
) -> StreamRight:
    """Return the right to a stream whose signed address was given to `person`."""
    session_key = "" if token else request.COOKIES.get(settings.SESSION_COOKIE_NAME, "")
    return StreamRight(person, token, session_key, team, needs_staff=needs_staff, since=since or time.time())


async def until_lost(
    pieces: AsyncIterator[bytes], right: StreamRight, *, last: Callable[[], bytes] | None = None
) -> AsyncGenerator[bytes]:
    """Yield the pieces, or what `last` returns instead of the rest; without `last` the response breaks off."""
    lost: set[StreamRight] = await run_in_db(find_lost, [right]) if right.team is not None else set()
    if lost:  # a person who has left asks for it again
        await pieces.aclose()  # type: ignore[attr-defined]  # generators, all of them
        if last is not None:
            yield last()
        return
    with watched(right):
        try:
            async with aclosing(pieces):  # type: ignore[type-var]  # generators, all of them
                async for piece in pieces:
                    yield piece
        except asyncio.CancelledError:
            if last is None or not was_cancelled_by_loss(right):
                raise
            yield last()


class _Reader(TypedDict):
    person: str
    owner: str
    token: int | None
    since: int
    team: int | None


class StreamToken(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True, kw_only=True):
    """Signed permission to follow one stream, part of its address; checking it takes no query.

    person: key for common.valkey.stream_slots. owner, token, since, team: of a StreamRight.
    """

    SALT: ClassVar[str]
    TTL_S: ClassVar[int]

    person: str = ""
    owner: str = ""
    token: int | None = None
    since: int = 0
    team: int | None = None

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
            request, person=self.owner, token=self.token, team=self.team, since=self.since, needs_staff=needs_staff
        )
        return sse.EventStreamResponse(request, until_lost(events, right, last=sse.end), person=self.person)


def reader_fields(owner: str, token: int | None = None, team: int | None = None) -> _Reader:
    """Return the fields of a StreamToken for a person who may read from now on. owner: Actor.key, or ""."""
    return {"person": person_hash(owner), "owner": owner, "token": token, "since": int(time.time()), "team": team}


@contextmanager
def watched(right: StreamRight) -> Iterator[None]:
    """Cancel this task when the right is lost."""
    right.task = asyncio.current_task()
    watcher = _watcher()
    watcher.add(right)
    try:
        yield
    finally:
        watcher.rights.discard(right)


def was_cancelled_by_loss(right: StreamRight) -> bool:
    """Let the task go on if the loss cancelled it."""
    if right.is_lost and right.task is not None:
        right.task.uncancel()
    return right.is_lost


class _Watcher:
    """Streams of one event loop."""

    def __init__(self) -> None:
        self.rights: set[StreamRight] = set()
        self._task: asyncio.Task[None] | None = None

    def add(self, right: StreamRight) -> None:
        self.rights.add(right)
        if right.person and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._watch())

    async def _watch(self) -> None:
        while self.rights:
            await asyncio.sleep(INTERVAL_S)
            try:
                lost = await run_in_db(find_lost, list(self.rights))
            except Error as error:  # also of a query, such as a column that a deploy has not added yet
                logger.warning("rights of open streams are not checked (%s)", str(error).strip())
                continue
            for right in lost & self.rights:
                self.rights.discard(right)
                right.is_lost = True
                if right.task is not None:
                    right.task.cancel()


_watchers: WeakKeyDictionary[asyncio.AbstractEventLoop, _Watcher] = WeakKeyDictionary()


def _watcher() -> _Watcher:
    loop = asyncio.get_running_loop()
    if loop not in _watchers:
        _watchers[loop] = _Watcher()
    return _watchers[loop]


def find_lost(rights: Collection[StreamRight]) -> set[StreamRight]:
    """Five queries at most, and one more for each right of staff."""
    bans = _bans()
    users = _by_id(_users, (right.user_id for right in rights))
    tokens = _by_id(_tokens, (right.token for right in rights))
    keys = {right.session_key for right in rights if right.user_id and right.session_key}
    live = BrowserSession.objects.filter(expire_date__gt=Now())
    sessions = live.in_bulk(keys) if keys else {}
    in_teams = {right.user_id for right in rights if right.team and right.user_id}
    rows = _members(list(in_teams)) if in_teams else ()
    members = {(row.user_id, row.team_id) for row in rows if has_right(row.role, Right.SEE)}
    return {
        right
        for right in rights
        if not _holds(right, bans, users, tokens, sessions)
        or (right.team is not None and (right.user_id, right.team) not in members)
    }


def _by_id(rows: PreparedQuery[M], ids: Iterable[int | None]) -> dict[int, M]:
    wanted = {number for number in ids if number}
    return {row.pk: row for row in rows(list(wanted))} if wanted else {}


def _holds(
    right: StreamRight,
    bans: list[Ban],
    users: dict[int, User],
    tokens: dict[int, ApiToken],
    sessions: dict[str, BrowserSession],
) -> bool:
    if any(right.is_person_of(ban) and ban.created_at.timestamp() > right.since - OVERLAP_S for ban in bans):
        return False
    if right.token and (right.token not in tokens or right.scope not in tokens[right.token].scopes):
        return False
    if right.user_id is None:
        return True
    user = users.get(right.user_id)
    if user is None or (right.needs_staff and not user.has_staff_rights):
        return False
    return not right.session_key or _signs_in(sessions.get(right.session_key), user)


def _signs_in(session: BrowserSession | None, user: User) -> bool:
    """A change of password ends the other sessions."""
    data = {} if session is None else session.get_decoded()
    hashes = (user.get_session_auth_hash(), *user.get_session_auth_fallback_hash())
    return data.get(SESSION_KEY) == str(user.pk) and data.get(HASH_SESSION_KEY) in hashes
