import asyncio
from collections.abc import Sequence

from battles.models import Answer
from battles.worker import turn_store
from battles.worker.turn_store import EndedSide, LeaseLost
from common.db.execution import CONNECTION_ERRORS, run_in_db_with_retry
from common.group_commit import GroupCommit

# How long the first side of a group waits for others.
DELAY_S = 0.01
MAX_GROUP = 32

_Waiting = tuple[EndedSide, "asyncio.Future[Answer.State]"]


class AnswerStore:
    """Stores sides that end at about the same time in one transaction."""

    def __init__(self) -> None:
        self._commit = GroupCommit(_store, delay_s=DELAY_S, max_size=MAX_GROUP)

    async def store(self, ended: EndedSide) -> Answer.State:
        """Raises LeaseLost, and errors of the database."""
        stored: asyncio.Future[Answer.State] = asyncio.get_running_loop().create_future()
        if ended.result.error:  # alone, see store_answers
            await _store([(ended, stored)])
        else:
            self._commit.put((ended, stored))
        return await stored


async def _store(group: Sequence[_Waiting]) -> None:
    # If a group fails, each side is stored alone.
    try:
        states = await run_in_db_with_retry(turn_store.store_answers, [ended for ended, _ in group])
    except Exception as error:
        if len(group) > 1 and not isinstance(error, CONNECTION_ERRORS):
            for waiting in group:
                await _store([waiting])
            return
        for _, stored in group:
            if not stored.done():
                stored.set_exception(error)
        return
    for (_, stored), state in zip(group, states, strict=True):
        if stored.done():  # the turn was cancelled in this process
            continue
        if state is None:
            stored.set_exception(LeaseLost())
        else:
            stored.set_result(state)
