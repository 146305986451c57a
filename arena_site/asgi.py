import os
import sys

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arena_site.settings.local")
django.setup(set_prefix=False)

from arena_site.body_limit import BodyLimit  # noqa: E402
from arena_site.site_handler import SiteHandler  # noqa: E402

# A thread that holds a database lock may have to wait for the GIL; with Python's default of 5 ms per switch, others
# queue for that lock.
SWITCH_INTERVAL_S = 0.001

sys.setswitchinterval(SWITCH_INTERVAL_S)
application = BodyLimit(SiteHandler())
