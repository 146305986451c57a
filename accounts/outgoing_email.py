"""E-mail is sent by workers: no request waits for a mail server, or shows by its duration whether it sent an e-mail.

Each message is a row until a worker has sent it. The task carries only the row's id: messages hold links that sign in,
so they must not be in Valkey, nor be lost with it.
"""

import logging
from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage, EmailMultiAlternatives, get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.db import ProgrammingError, transaction
from django.db.models import F
from django.db.models.functions import Now
from kombu.exceptions import OperationalError

from accounts.models import OutgoingEmail
from common.valkey.connections import UNREACHABLE, while_a_person_waits

logger = logging.getLogger(__name__)

GIVEN_UP_AFTER = timedelta(days=1)
# Lease of the worker that sends a message, and the pause before a failed one is tried again.
RETRY_AFTER = timedelta(minutes=5)
FIELDS = ("subject", "body", "from_email", "to", "cc", "bcc", "reply_to")


class QueuedBackend(BaseEmailBackend):
    """Queues messages for ARENA_EMAIL_BACKEND. Takes no attachments: the arena sends none."""

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        rows = [OutgoingEmail(message=_as_json(message)) for message in email_messages]
        try:
            with transaction.atomic():
                OutgoingEmail.objects.bulk_create(rows)
        except ProgrammingError:  # this code serves before its migration has made the table
            return get_connection(settings.ARENA_EMAIL_BACKEND).send_messages(email_messages) or 0
        for row in rows:
            transaction.on_commit(partial(_wake, row.pk))
        return len(rows)


def send(email_id: int) -> None:
    """Send a message that is due, by one worker only. A failed one is tried again later."""
    due = OutgoingEmail.objects.due().filter(pk=email_id)
    if not due.update(due_at=Now() + RETRY_AFTER, attempts=F("attempts") + 1):
        return
    row = OutgoingEmail.objects.get(pk=email_id)
    try:
        get_connection(settings.ARENA_EMAIL_BACKEND).send_messages([_as_message(row.message)])
    except Exception as error:  # one message that fails must not stop the others
        logger.error("e-mail %s could not be sent (try %d): %s", row.pk, row.attempts, type(error).__name__)
        return
    row.delete()


def send_due() -> None:
    """Send all messages that are due: no worker was woken for them, or they failed before. Delete those a day old."""
    given_up, _ = OutgoingEmail.objects.filter(created_at__lt=Now() - GIVEN_UP_AFTER).delete()
    if given_up:
        logger.error("e-mails that could not be sent for a day: %d", given_up)
    for email_id in list(OutgoingEmail.objects.due().order_by("pk").values_list("pk", flat=True)):
        send(email_id)


def _wake(email_id: int) -> None:
    """Queue the task. Without a broker the message waits for send_due."""
    from accounts.tasks import send_email  # tasks import this module

    try:
        with while_a_person_waits():
            send_email.delay(email_id)
    except (OperationalError, *UNREACHABLE) as error:
        logger.warning("no worker was woken for e-mail %s: %s", email_id, error)


def _as_json(message: EmailMessage) -> dict[str, Any]:
    if message.attachments:
        raise ValueError("e-mails with attachments are not queued")
    alternatives = message.alternatives if isinstance(message, EmailMultiAlternatives) else []
    plain = {name: getattr(message, name) for name in FIELDS}
    parts = [[str(content), mimetype] for content, mimetype in alternatives]
    return {**plain, "subject": str(message.subject), "headers": message.extra_headers, "alternatives": parts}


def _as_message(stored: dict[str, Any]) -> EmailMessage:
    plain = {name: stored[name] for name in FIELDS}
    message = EmailMultiAlternatives(**plain, headers=stored["headers"])
    for content, mimetype in stored["alternatives"]:
        message.attach_alternative(content, mimetype)
    return message
