"""`python -m arena_site.healthcheck`: exit with 0 when this container's web process answers /livez.

Runs every few seconds, so it does not import Django.
"""

import http.client
import os
import sys


def is_alive(port: int) -> bool:
    # A production site accepts only its own host names, and redirects requests that did not come over HTTPS.
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
