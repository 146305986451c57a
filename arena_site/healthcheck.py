"""`python -m arena_site.healthcheck`: exits with 0 when this container's web process answers /livez.

Asked every few seconds, so it imports nothing of Django.
"""

import http.client
import os
import sys


def is_alive(port: int) -> bool:
    # A production site answers only to its own names, and only when its proxy says https.
    host = os.environ.get("ARENA_HOSTS", "localhost").split(",")[0].strip().lstrip(".").replace("*", "localhost")
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=4)
    try:
        connection.request("GET", "/livez", headers={"Host": host, "X-Forwarded-Proto": "https"})
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


if __name__ == "__main__":
    sys.exit(not is_alive(int(os.environ.get("ARENA_PORT") or 8000)))
