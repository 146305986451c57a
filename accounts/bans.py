"""Who is blocked now, looked up once for everybody who asks within two seconds."""

import threading
import time
from typing import Any

from django.db import transaction
from django.db.models.signals import post_delete, post_save
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from accounts.actor import Actor
from accounts.errors import Banned
from accounts.models import Ban
from common.client_ip import month_of, network_word

# There are few bans and many votes: nobody's vote asks the database for them.
FRESH_FOR_S = 2.0

_lock = threading.Lock()
_known: list[Ban] = []
_known_until = 0.0


def refuse_the_banned(actor: Actor, request: HttpRequest) -> None:
    """Raises Banned, with the reason and the end. While nobody is banned, nobody is looked up."""
    for ban in _in_force():
        if _is_of(ban, actor, request):
            raise Banned(_sentence(ban))


def _in_force() -> list[Ban]:
    global _known, _known_until
    with _lock:
        if time.monotonic() >= _known_until:
            _known = list(Ban.objects.in_force())
            _known_until = time.monotonic() + FRESH_FOR_S
        return _known


def _is_of(ban: Ban, actor: Actor, request: HttpRequest) -> bool:
    if ban.expires_at is not None and ban.expires_at <= timezone.now():
        return False
    if ban.network:  # its word is of the month in which it was seen
        return ban.network == network_word(request, month_of(ban.network))
    if ban.user_id is not None:
        return actor.user is not None and actor.user.pk == ban.user_id
    return actor.visitor is not None and actor.visitor.pk == ban.visitor_id


def _sentence(ban: Ban) -> str:
    if ban.expires_at is None:
        return _("You are blocked from taking part in this arena: %(reason)s") % {"reason": ban.reason}
    end = date_format(timezone.localtime(ban.expires_at), "DATETIME_FORMAT")
    return _("You are blocked from taking part in this arena until %(end)s: %(reason)s") % {
        "end": end, "reason": ban.reason,
    }  # fmt: skip


def _forget() -> None:
    global _known_until
    _known_until = 0.0


@receiver([post_save, post_delete], sender=Ban)
def look_again(**_: Any) -> None:
    _forget()
    transaction.on_commit(_forget)  # somebody may have looked before
