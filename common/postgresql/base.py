"""The ENGINE of the settings: lends no connection that a restart of the server broke.

Django can have the pool check what it lends, but the pool then pauses longer after each broken connection it meets
and gives up before it has met a dozen.
"""

import select
from typing import Any

import psycopg
from django.db.backends.postgresql import base


class DatabaseWrapper(base.DatabaseWrapper):
    pool: Any

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """One that answers. Where one is broken, all that lie idle are looked at before another is lent."""
        connection = super().get_new_connection(conn_params)
        if self.pool and not _answers(connection):
            self.pool.putconn(connection)
            self.pool.check()
            connection = super().get_new_connection(conn_params)
        return connection


def _answers(connection: Any) -> bool:
    """An idle connection on which something lies to be read was mostly closed by the server."""
    poll = select.poll()
    poll.register(connection.pgconn.socket, select.POLLIN)
    if not poll.poll(0):
        return True
    try:
        connection.execute("")
    except psycopg.Error:
        return False
    return True
