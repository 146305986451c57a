"""E-mail backend that queues messages as rows for a worker (accounts.outgoing_email).

The duration of a request does not show whether it sent one. Tasks carry only the id: messages hold links that sign in,
which must neither be in Valkey nor be lost with it.
"""

import logging
from collections.abc import Sequence
from functools import partial

from django.core.mail import EmailMessage, EmailMultiAlternatives
from django.core.mail.backends.base import BaseEmailBackend
from django.db import transaction
from kombu.exceptions import OperationalError

from accounts.models import OutgoingEmail
from accounts.outgoing_email import FIELDS
from accounts.tasks import send_email
from common.payload_types import JsonObject
from common.valkey.connections import UNREACHABLE, fail_fast

logger = logging.getLogger(__name__)


class QueuedBackend(BaseEmailBackend):
    """Queue messages for ARENA_EMAIL_BACKEND. Attachments are not supported."""

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        rows = [OutgoingEmail(message=_as_json(message)) for message in email_messages]
        OutgoingEmail.objects.bulk_create(rows)
        for row in rows:
            transaction.on_commit(partial(_queue_task, row.pk))
        return len(rows)


def _queue_task(email_id: int) -> None:
    """Queue the task. Without a broker, send_due sends the message."""
    try:
        with fail_fast():
            send_email.delay(email_id)
    except (OperationalError, *UNREACHABLE) as error:
        logger.warning("no worker was woken for e-mail %s: %s", email_id, error)


def _as_json(message: EmailMessage) -> JsonObject:
    if message.attachments:
        raise ValueError("e-mails with attachments are not queued")
    alternatives = message.alternatives if isinstance(message, EmailMultiAlternatives) else []
    plain = {name: getattr(message, name) for name in FIELDS}
    parts = [[str(content), mimetype] for content, mimetype in alternatives]
    return {**plain, "subject": str(message.subject), "headers": message.extra_headers, "alternatives": parts}
