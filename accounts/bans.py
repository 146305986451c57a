from django.http import HttpRequest
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from accounts.actor import Actor
from accounts.errors import Banned
from accounts.models import Ban
from common.cache import TTLCached
from common.client_ip import hash_month, network_hash

# Cached, because every vote checks the bans and there are few of them.
in_force = TTLCached(lambda: list(Ban.objects.in_force()), ttl_s=2, invalidated_by=(Ban,))


def refuse_banned(actor: Actor, request: HttpRequest) -> None:
    """Raise Banned with reason and end. Without bans in force, `actor` stays lazy and costs no query."""
    for ban in in_force():
        if _applies_to(ban, actor, request):
            raise Banned(_message(ban))


def _applies_to(ban: Ban, actor: Actor, request: HttpRequest) -> bool:
    if ban.expires_at is not None and ban.expires_at <= timezone.now():
        return False
    if ban.network:
        is_administrator = actor.user is not None and actor.user.is_administrator
        return ban.network == network_hash_in_month_of(ban, request) and not is_administrator
    if ban.user_id is not None:
        return actor.user is not None and actor.user.pk == ban.user_id
    return actor.visitor is not None and actor.visitor.pk == ban.visitor_id


def network_hash_in_month_of(ban: Ban, request: HttpRequest) -> str:
    """Return the request's network hash for the month of the ban's hash."""
    return network_hash(request, hash_month(ban.network))


def _message(ban: Ban) -> str:
    if ban.expires_at is None:
        return _("You are blocked from taking part in this arena: %(reason)s") % {"reason": ban.reason}
    end = date_format(timezone.localtime(ban.expires_at), "DATETIME_FORMAT")
    return _("You are blocked from taking part in this arena until %(end)s: %(reason)s") % {
        "end": end, "reason": ban.reason,
    }  # fmt: skip
