import math

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from common.payload_types import ErrorPayload
from common.text.storable import storable

FieldErrors = dict[str, list[str]]


class ArenaError(Exception):
    """Refusal with a stable code, a sentence for the person, and an HTTP status."""

    code = "refused"
    message: str | Promise = _("This is not possible.")
    http_status = 400
    page = "error.html"
    # Commit what the request stored before the error, where it runs in one transaction.
    keeps_stored_rows = False

    def __init__(
        self, message: str | Promise = "", *, fields: FieldErrors | None = None, retry_after: float | None = None
    ) -> None:
        field_lines = " ".join(line for lines in (fields or {}).values() for line in lines)
        self.detail = str(message or field_lines or self.message)  # in the language of the request
        super().__init__(self.detail)
        self.fields = fields
        self.retry_after = None if retry_after is None else max(1, math.ceil(retry_after))

    @property
    def wait_minutes(self) -> int:
        """Minutes to wait, for pages; 0 when seconds or hours suit better."""
        return math.ceil((self.retry_after or 0) / 60) if 120 < (self.retry_after or 0) <= 7_200 else 0

    @property
    def wait_hours(self) -> int:
        return math.ceil((self.retry_after or 0) / 3_600) if (self.retry_after or 0) > 7_200 else 0

    def as_json(self) -> ErrorPayload:
        """Return the payload; unstorable characters in quoted input are replaced."""
        body: ErrorPayload = {"code": self.code, "detail": storable(self.detail)}
        if self.fields:
            body["fields"] = {storable(name): [storable(line) for line in lines] for name, lines in self.fields.items()}
        return body

    @property
    def headers(self) -> dict[str, str]:
        return {} if self.retry_after is None else {"Retry-After": str(self.retry_after)}


class InvalidInput(ArenaError):
    code = "invalid"
    message = _("Some values are invalid.")


class NotFound(ArenaError):
    code = "not_found"
    message = _("This does not exist, or you do not have access.")
    http_status = 404


class NotSignedIn(ArenaError):
    code = "not_authenticated"
    message = _("Sign in, or send a valid token.")
    http_status = 401

    @property
    def headers(self) -> dict[str, str]:
        return {"WWW-Authenticate": "Bearer"}


class NotAllowed(ArenaError):
    code = "permission_denied"
    message = _("You may not do this.")
    http_status = 403


class TooLarge(ArenaError):
    code = "too_large"
    message = _("The request is too large.")
    http_status = 413
    page = "too_large.html"  # shows nothing of the form, which Django has not read


class UnsupportedMediaType(ArenaError):
    code = "unsupported_media_type"
    message = _("Unsupported Content-Type. Send application/json, or multipart/form-data for a file.")
    http_status = 415


class TooManyRequests(ArenaError):
    code = "rate_limited"
    message = _("Too many requests. Please wait a moment.")
    http_status = 429


class ServiceAway(ArenaError):
    code = "service_unavailable"
    message = _("The arena is temporarily unavailable. Please try again.")
    http_status = 503

    def __init__(self, message: str | Promise = "", *, retry_after: float = 5) -> None:
        super().__init__(message, retry_after=retry_after)


class DatabaseAway(ServiceAway):
    message = _("The database is temporarily unavailable. Your data is safe. Please try again.")
    page = "away.html"  # runs no query
