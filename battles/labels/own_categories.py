"""The operator's own categories, looked up once for everybody who asks within some seconds."""

import threading
import time
from typing import Any

from django.db import transaction
from django.db.models.signals import post_delete, post_save
from django.dispatch import receiver

from battles.labels.own_rules import Rule
from battles.models import Category

# Votes that were labelled by yesterday's rules are labelled again before they are counted.
FRESH_FOR_S = 10.0

_lock = threading.Lock()
_known: list[Rule] = []
_known_until = 0.0


def rules() -> list[Rule]:
    """Category.objects.rules(), at most ten seconds old; what this process changes shows at once."""
    global _known, _known_until
    with _lock:
        if time.monotonic() >= _known_until:
            _known = Category.objects.rules()
            _known_until = time.monotonic() + FRESH_FOR_S
        return _known


def _forget() -> None:
    global _known_until
    _known_until = 0.0


@receiver([post_save, post_delete], sender=Category)
def look_again(**_: Any) -> None:
    _forget()
    transaction.on_commit(_forget)  # somebody may have looked before
