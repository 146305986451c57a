import asyncio
import logging
import time
from collections.abc import Callable
from contextvars import copy_context
from functools import partial
from typing import ParamSpec, TypeVar

from django.db import connection

from common.db.execution import CONNECTION_ERRORS, RETRY_PAUSE_S, RETRY_TIMEOUT_S
from common.late_response import request_threads

logger = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")


def in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> "asyncio.Future[T]":
    """Run `work` in a thread of requests and return its connection to the pool."""

    def work_and_release() -> T:
        try:
            return work(*args, **kwargs)
        finally:
            connection.close()

    context = copy_context()
    return asyncio.get_running_loop().run_in_executor(request_threads(), partial(context.run, work_and_release))


async def in_thread_with_retry(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Retry errors of the connection as common.db.execution.run_in_db_with_retry does; `work` must be idempotent."""
    deadline = time.monotonic() + RETRY_TIMEOUT_S
    while True:
        try:
            return await in_thread(work, *args, **kwargs)
        except CONNECTION_ERRORS as error:
            if time.monotonic() >= deadline:
                raise
            logger.warning("the gateway waits for the database (%s)", str(error).strip())
            await asyncio.sleep(RETRY_PAUSE_S)
