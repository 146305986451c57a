from collections.abc import Iterator
from contextlib import contextmanager

from django.utils.translation import gettext_lazy as _

from accounts.actor import Actor
from common.errors import ArenaError
from common.valkey import limits

NOT_COUNTED = _("New runs are temporarily unavailable. Please try again.")


@contextmanager
def counted_run(actor: Actor) -> Iterator[None]:
    """Count a new run unless it is refused. Raises LimitReached and ServiceAway."""
    actor.count("run", fail_open=False, not_counted=NOT_COUNTED)
    try:
        yield
    except ArenaError:
        limits.uncount("run", actor.limit_keys)
        raise
