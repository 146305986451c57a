import asyncio
from collections.abc import Callable
from contextvars import copy_context
from functools import partial
from typing import ParamSpec, TypeVar

from common.db.execution import run_and_release, with_retry
from common.late_response import request_threads

P = ParamSpec("P")
T = TypeVar("T")


def in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> "asyncio.Future[T]":
    """Run `work` in a thread of requests."""
    run = partial(copy_context().run, run_and_release, partial(work, *args, **kwargs))
    return asyncio.get_running_loop().run_in_executor(request_threads(), run)


async def in_thread_with_retry(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Retry as common.db.execution.run_in_db_with_retry."""
    return await with_retry(partial(in_thread, work, *args, **kwargs), name=getattr(work, "__name__", str(work)))
