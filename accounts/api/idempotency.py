"""Idempotency-Key for API POSTs: a repeated key and body return the first result."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from typing import ParamSpec, TypeVar, cast

from django.db import transaction
from django.db.models import Q
from django.http import HttpRequest
from django.utils.translation import gettext as _
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.actor import ActorRequest, actor_keys, ensure_known_actor
from accounts.errors import IdempotencyKeyReused, StillRunning
from accounts.models import IdempotencyKey, User, Visitor
from common.api.errors import as_arena_error
from common.errors import ArenaError, InvalidInput

P = ParamSpec("P")
R = TypeVar("R", bound=Response)


class ShownOnce(str):
    """Secret in a response: it is not stored, and null when the request is repeated."""

    __slots__ = ()


def idempotent(method: Callable[P, R]) -> Callable[P, R]:
    """Honour `Idempotency-Key` on a DRF view method.

    The action and its stored result commit together. 428, 429, 5xx and ShownOnce values are not stored.
    Raises IdempotencyKeyReused for another body, StillRunning while the first request runs.
    """

    @wraps(method)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        request = cast(Request, args[1])
        key = request.headers.get("Idempotency-Key", "")
        if not key:
            return method(*args, **kwargs)
        if len(key) > 255:
            raise InvalidInput(_("Idempotency-Key may have at most 255 characters."))
        row, _is_new = claim_key(ensure_known_actor(cast(ActorRequest, request._request)).key, key, _hash(request))
        if row.status is not None:
            return cast(R, Response(row.body, status=row.status))
        return cast(R, _run_once(row, lambda: method(*args, **kwargs)))

    return wrapped


def claim_key(actor: str, key: str, request_hash: str) -> tuple[IdempotencyKey, bool]:
    """Return the key's row, and whether it is new. Raises IdempotencyKeyReused after another request with the key."""
    row, is_new = IdempotencyKey.objects.get_or_create(actor=actor, key=key, defaults={"request_hash": request_hash})
    if row.request_hash != request_hash:
        raise IdempotencyKeyReused
    return row, is_new


def replace_results(owners: Iterable[User | Visitor], *, about: list[str], refusal: ArenaError) -> None:
    """Replace these people's stored results about sessions or battles (public ids), so that no request runs twice."""
    # A new session's result has one battle. Running requests have no result, so that their locked rows do not match.
    is_about = Q(body__id__in=about) | Q(body__session__in=about) | Q(body__battles__0__id__in=about)
    IdempotencyKey.objects.filter(is_about, actor__in=actor_keys(*owners)).update(
        status=refusal.http_status, body=refusal.as_json()
    )


def _hash(request: Request) -> str:
    sent = request._request
    if sent.content_type == "multipart/form-data":  # clients choose a new boundary each time
        parts = [sent.method or "", sent.path, sent.content_type, *_fields(sent)]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()
    head = "\n".join((sent.method or "", sent.path, sent.META.get("CONTENT_TYPE", "")))
    return hashlib.sha256(head.encode() + b"\n" + sent.body).hexdigest()


def _fields(sent: HttpRequest) -> Iterator[str]:
    for name, values in sorted(sent.POST.lists()):
        yield repr((name, values))
    for name, files in sorted(sent.FILES.lists()):
        for file in files:
            digest = hashlib.sha256(b"".join(file.chunks())).hexdigest()
            file.seek(0)
            yield repr((name, file.name, digest))


def _run_once(row: IdempotencyKey, run: Callable[[], Response]) -> Response:
    """Run with the row locked and store the result; a killed process's lock ends with its connection."""
    refused: Exception | None = None
    with transaction.atomic():
        free = IdempotencyKey.objects.select_for_update(skip_locked=True).filter(pk=row.pk).first()
        if free is None:
            raise StillRunning(retry_after=1)
        if free.status is not None:
            return Response(free.body, status=free.status)
        try:
            with transaction.atomic():
                response, refused = _run_keeping_rows(run)
        except Exception as error:
            refusal = as_arena_error(error)
            if refusal is None or refusal.http_status in (428, 429) or refusal.http_status >= 500:
                raise
            refused, response = error, Response(refusal.as_json(), status=refusal.http_status)
        _store_result(free, response)
    if refused is not None:
        raise refused
    return response


def _run_keeping_rows(run: Callable[[], Response]) -> tuple[Response, ArenaError | None]:
    """Return the response, with the error of a refusal whose stored rows must be committed."""
    try:
        return run(), None
    except ArenaError as error:
        if not error.keeps_stored_rows:
            raise
        return Response(error.as_json(), status=error.http_status), error


def _store_result(row: IdempotencyKey, response: Response) -> None:
    data = response.data
    if isinstance(data, dict):
        data = {name: None if isinstance(value, ShownOnce) else value for name, value in data.items()}
    body = json.loads(JSONRenderer().render(data))  # rendered, so that it equals the first response
    IdempotencyKey.objects.filter(pk=row.pk).update(status=response.status_code, body=body)
