"""The scoring children of this process, with the plug-ins that the operator named."""

import os
from functools import lru_cache

from django.conf import settings

from benchmarks.scoring.child_process import ScoringChildren
from benchmarks.scoring.plugins import PluginState


def scoring_children() -> ScoringChildren:
    """Return the children that all threads of this process share; none is started before a check needs one."""
    return _children_of(os.getpid())


def plugin_states() -> list[PluginState]:
    """Return loaded and failed plug-ins of ARENA_PLUGINS. Imports them in a child."""
    return scoring_children().plugins() if settings.ARENA_PLUGINS else []


@lru_cache(maxsize=1)
def _children_of(pid: int) -> ScoringChildren:
    """Keyed by process, because a forked worker must not share its parent's sockets."""
    return ScoringChildren(plugins=settings.ARENA_PLUGINS)
