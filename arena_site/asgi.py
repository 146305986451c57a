"""What a web process serves."""

import os
import sys

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arena_site.settings.local")
django.setup(set_prefix=False)

from arena_site.body_limit import BodyLimit  # noqa: E402
from arena_site.site_handler import SiteHandler  # noqa: E402

# Threads that hold a lock in the database wait for the interpreter's lock too; 5 ms a turn adds up to a queue.
SWITCH_INTERVAL_S = 0.001

sys.setswitchinterval(SWITCH_INTERVAL_S)
application = BodyLimit(SiteHandler())
