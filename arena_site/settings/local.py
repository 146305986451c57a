"""One machine, started with `make up`: services and secrets come from the service file."""

import secrets

from arena_site.settings.base import *  # noqa: F403
from arena_site.settings.base import SECRET_KEY

if not SECRET_KEY:  # a command before the first start; its signatures are valid in this process only
    SECRET_KEY = secrets.token_urlsafe(50)
