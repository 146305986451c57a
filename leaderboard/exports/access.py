from django.conf import settings
from django.utils.translation import gettext as _

from accounts.actor import Actor
from accounts.models import Scope
from common.errors import NotAllowed


def may_read_exports(actor: Actor) -> bool:
    """Return whether the actor may read exports and releases; tokens also need `export_scope`."""
    return settings.ARENA_PUBLISH_VOTES or actor.user is not None


def require_exports(actor: Actor) -> None:
    """Raises NotAllowed."""
    if not may_read_exports(actor):
        raise NotAllowed(
            _("This arena does not publish its votes. A member's token with the scope “export” reads them.")
        )


def export_scope() -> Scope:
    return Scope.READ if settings.ARENA_PUBLISH_VOTES else Scope.EXPORT
