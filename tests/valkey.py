from collections.abc import Iterator
from contextlib import contextmanager

from django.test import override_settings

from common.valkey import connections
from common.valkey.limits import counting

# Kept here, because tests replace the first.
_CACHED = (counting._script, connections.connection, connections.pool)


@contextmanager
def valkey_at(url: str) -> Iterator[None]:
    """Use the Valkey at this URL."""
    try:
        with override_settings(REDIS_URL=url):
            _forget_connections()
            yield
    finally:  # after the URL is back: meanwhile a background thread may have connected to this one again
        _forget_connections()


def _forget_connections() -> None:
    for function in _CACHED:
        function.cache_clear()
