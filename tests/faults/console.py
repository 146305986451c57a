"""`python -m tests.faults.console`: run code in a running arena's Django, one JSON string per line."""

import contextlib
import io
import json
import os
import sys
import traceback

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arena_site.settings.local")
django.setup()

from django.db import connections  # noqa: E402


def reply_to(code: str) -> dict[str, str]:
    printed, error = io.StringIO(), ""
    with contextlib.redirect_stdout(printed):
        try:
            exec(code, {"__name__": "__console__"})
        except Exception:
            error = traceback.format_exc()
        finally:
            connections.close_all()  # the arena's PostgreSQL may be killed before the next piece
    return {"printed": printed.getvalue(), "error": error}


if __name__ == "__main__":
    for line in sys.stdin:
        reply = reply_to(json.loads(line))
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()
