"""Share of an hour's decisions that start a battle to learn from: exact, counted in Valkey."""

import logging
import time
from functools import cache

from redis.commands.core import Script

from common.valkey.connections import UNREACHABLE, connection, fail_fast

logger = logging.getLogger(__name__)

BUCKET_S = 300
BUCKETS = 12

# KEYS: hashes {n: decisions, explored: those with a battle} of the last hour, newest first. ARGV: 1 if this decision
# wants a battle; the largest share; seconds to keep a hash. Counts the decision; returns 1 if it may start a battle.
_COUNT = """
local n, explored = 0, 0
for _, key in ipairs(KEYS) do
  n = n + tonumber(redis.call("HGET", key, "n") or "0")
  explored = explored + tonumber(redis.call("HGET", key, "explored") or "0")
end
local may = ARGV[1] == "1" and explored + 1 <= tonumber(ARGV[2]) * (n + 1)
redis.call("HINCRBY", KEYS[1], "n", 1)
if may then redis.call("HINCRBY", KEYS[1], "explored", 1) end
redis.call("EXPIRE", KEYS[1], ARGV[3])
return may and 1 or 0
"""


@cache
def _script() -> Script:
    return connection().register_script(_COUNT)


def may_explore(*, wanted: bool, max_share: float) -> bool:
    """Count a decision that could start a battle; return whether it may. False while Valkey is away."""
    newest = int(time.time() // BUCKET_S)
    keys = [f"route:explored:{newest - number}" for number in range(BUCKETS)]
    try:
        with fail_fast():
            arguments = [int(wanted), max_share, BUCKET_S * (BUCKETS + 1)]
            return bool(_script()(keys=keys, args=arguments))
    except UNREACHABLE as error:
        logger.warning("decisions do not explore: Valkey is away (%s)", error)
        return False
