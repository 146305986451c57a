import logging
from typing import Any

from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.db import InterfaceError, OperationalError
from django.http import Http404
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import set_rollback

from common.errors import (
    ArenaError,
    DatabaseAway,
    FieldErrors,
    InvalidInput,
    NotAllowed,
    NotFound,
    NotSignedIn,
    TooLarge,
    UnsupportedMediaType,
)

logger = logging.getLogger(__name__)


def _field_errors(detail: object) -> FieldErrors | None:
    if not isinstance(detail, dict):
        return None
    return {str(field): _messages(messages) for field, messages in detail.items()}


def _messages(detail: object) -> list[str]:
    """Return the messages of a field, for a nested one those of all fields in it."""
    if isinstance(detail, dict):
        detail = list(detail.values())
    return [message for part in detail for message in _messages(part)] if isinstance(detail, list) else [str(detail)]


def as_arena_error(error: Exception) -> ArenaError | None:
    """Return the ArenaError for a refusal by DRF, Django or us; None for a bug."""
    match error:
        case ArenaError():
            return error
        case OperationalError() | InterfaceError():
            return DatabaseAway()
        case Http404() | exceptions.NotFound():
            return NotFound()
        case PermissionDenied() | exceptions.PermissionDenied():
            return NotAllowed(str(error)) if str(error) else NotAllowed()
        case exceptions.NotAuthenticated() | exceptions.AuthenticationFailed():
            return NotSignedIn()
        case exceptions.ValidationError():
            return InvalidInput(fields=_field_errors(error.detail))
        case exceptions.UnsupportedMediaType():
            return UnsupportedMediaType()
        case RequestDataTooBig():
            return TooLarge()
        case exceptions.APIException():
            translated = ArenaError(str(error.detail))
            translated.http_status = error.status_code
            translated.code = str(error.get_codes()) if isinstance(error.get_codes(), str) else error.default_code
            return translated
    return None


def api_exception_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    arena_error = as_arena_error(error)
    if arena_error is None:
        return None
    if isinstance(arena_error, DatabaseAway):
        logger.warning("the database is away: %s", str(error).strip())
    set_rollback()
    return Response(arena_error.as_json(), status=arena_error.http_status, headers=arena_error.headers)
