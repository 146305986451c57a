"""The ORM from inside an event loop."""

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from django.db import connection

P = ParamSpec("P")
T = TypeVar("T")


async def in_database(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run `work` in a thread and give its connection back at once, so that waiting for a model pins none."""

    def work_and_release() -> T:
        try:
            return work(*args, **kwargs)
        finally:
            connection.close()

    return await asyncio.to_thread(work_and_release)
