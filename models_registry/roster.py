"""Who may be drawn now, looked up once for everybody who asks within a second."""

import threading
import time
from typing import Any

from django.db import transaction
from django.db.models.signals import post_delete, post_save
from django.dispatch import receiver

from models_registry.ledger import PaidCallsHalt
from models_registry.models import Breaker, LanguageModel, Price, Provider

# A hundred battles that begin at once would otherwise read all models, prices and breakers a hundred times.
FRESH_FOR_S = 1.0

_lock = threading.Lock()
_known: list[LanguageModel] = []
_known_until = 0.0


def drawable() -> list[LanguageModel]:
    """LanguageModel.objects.drawable(), at most a second old; what this process changes shows at once.

    The models are shared by the process's threads: nobody changes them.
    """
    global _known, _known_until
    with _lock:
        if time.monotonic() >= _known_until:
            _known = LanguageModel.objects.drawable()
            _known_until = time.monotonic() + FRESH_FOR_S
        return list(_known)


def _forget() -> None:
    global _known_until
    _known_until = 0.0


@receiver([post_save, post_delete], sender=LanguageModel)
@receiver([post_save, post_delete], sender=Provider)
@receiver([post_save, post_delete], sender=Price)
@receiver([post_save, post_delete], sender=Breaker)
@receiver([post_save, post_delete], sender=PaidCallsHalt)
def look_again(**_: Any) -> None:
    _forget()
    transaction.on_commit(_forget)  # somebody may have looked before
