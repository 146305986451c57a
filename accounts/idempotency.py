"""One decorator for every API POST: the same key and body give the first result again."""

import hashlib
import json
from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from typing import Any, cast

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.actor import ActorRequest, known_actor
from accounts.errors import IdempotencyKeyReused, StillRunning
from accounts.models import IdempotencyKey
from common.api_errors import as_arena_error
from common.errors import InvalidInput

# A request whose process died never finishes; after this long its key may be taken over.
ABANDONED_AFTER = timedelta(seconds=30)
Method = Callable[..., Response]


def idempotent(method: Method) -> Method:
    """Honour `Idempotency-Key` on a DRF view method.

    The action and its remembered result commit together. 429 and 5xx are not remembered.
    Raises IdempotencyKeyReused for another body, StillRunning while the first request is being answered.
    """

    @wraps(method)
    def wrapped(view: Any, request: Request, *args: Any, **kwargs: Any) -> Response:
        key = request.headers.get("Idempotency-Key", "")
        if not key:
            return method(view, request, *args, **kwargs)
        if len(key) > 255:
            raise InvalidInput("Idempotency-Key may have at most 255 characters.")
        row = _claim(known_actor(cast(ActorRequest, request._request)).key, key, _hash(request))
        if row.status is not None:
            return Response(row.body, status=row.status)
        return _run_once(row, view, lambda: method(view, request, *args, **kwargs))

    return wrapped


def _hash(request: Request) -> str:
    parts = (request.method or "", request.path, request.META.get("CONTENT_TYPE", ""))
    return hashlib.sha256("\n".join(parts).encode() + b"\n" + request._request.body).hexdigest()


def _claim(actor: str, key: str, request_hash: str) -> IdempotencyKey:
    row, is_new = IdempotencyKey.objects.get_or_create(actor=actor, key=key, defaults={"request_hash": request_hash})
    if is_new:
        return row
    if row.request_hash != request_hash:
        raise IdempotencyKeyReused
    if row.status is None:
        abandoned = Q(created_at__lt=Now() - ABANDONED_AFTER)
        if not IdempotencyKey.objects.filter(abandoned, pk=row.pk, status=None).update(created_at=Now()):
            raise StillRunning(retry_after=1)
    return row


def _run_once(row: IdempotencyKey, view: Any, run: Callable[[], Response]) -> Response:
    try:
        with transaction.atomic():
            response = run()
            _remember(row, response)
            return response
    except Exception as error:
        refusal = as_arena_error(error)
        if refusal is None or refusal.http_status == 429 or refusal.http_status >= 500:
            IdempotencyKey.objects.filter(pk=row.pk).delete()
        else:
            _remember(row, Response(refusal.as_json(), status=refusal.http_status))
        raise


def _remember(row: IdempotencyKey, response: Response) -> None:
    body = json.loads(JSONRenderer().render(response.data))  # exactly what the first request was answered with
    IdempotencyKey.objects.filter(pk=row.pk, status=None).update(status=response.status_code, body=body)
