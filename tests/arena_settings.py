"""Settings of `make up`, with variables for values that operators cannot set.

`ARENA_LIMIT_<ACTION>_<WHO>` replaces a limit, `ARENA_STREAMS_<WHOSE>` a cap of open streams.
"""

from arena_site.settings.local import *  # noqa: F403
from arena_site.settings.local import ARENA_LIMITS, ARENA_STREAMS, env
from leaderboard.counting import method

ARENA_LIMITS = {
    (action, who): env.str(f"ARENA_LIMIT_{action}_{who}".upper(), default=rate)
    for (action, who), rate in ARENA_LIMITS.items()
}
ARENA_STREAMS = {
    whose: env.int(f"ARENA_STREAMS_{whose}".upper(), default=number) for whose, number in ARENA_STREAMS.items()
}
method.LISTED_FROM_VOTES = env.int("ARENA_LISTED_FROM_VOTES", default=method.LISTED_FROM_VOTES)
# The default hasher takes a third of a second per sign-in.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
SILENCED_SYSTEM_CHECKS = ["arena_site.W001"]
