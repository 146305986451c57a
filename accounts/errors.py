"""Refusals that have to do with who is asking."""

from common.errors import ArenaError


class IdempotencyKeyReused(ArenaError):
    code = "idempotency_key_reused"
    message = "This Idempotency-Key was used with another request."
    http_status = 422


class StillRunning(ArenaError):
    code = "still_running"
    message = "The first request with this Idempotency-Key is still being answered."
    http_status = 409
