import logging
from datetime import timedelta

from django.conf import settings
from django.core.mail import EmailMessage, EmailMultiAlternatives, get_connection
from django.db.models import F
from django.db.models.functions import Now

from accounts.models import OutgoingEmail
from common.payload_types import JsonObject

logger = logging.getLogger(__name__)

GIVEN_UP_AFTER = timedelta(days=1)
# Lease of the worker that sends a message, and the pause before a failed one is tried again.
RETRY_AFTER = timedelta(minutes=5)
FIELDS = ("subject", "body", "from_email", "to", "cc", "bcc", "reply_to")


def send(email_id: int) -> None:
    """Send a message if it is due; the UPDATE's condition lets one worker win. A failed one is retried."""
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
    """Send messages whose task was lost or failed; delete those older than GIVEN_UP_AFTER."""
    given_up, _ = OutgoingEmail.objects.filter(created_at__lt=Now() - GIVEN_UP_AFTER).delete()
    if given_up:
        logger.error("e-mails that could not be sent for a day: %d", given_up)
    for email_id in list(OutgoingEmail.objects.due().order_by("pk").values_list("pk", flat=True)):
        send(email_id)


def _as_message(stored: JsonObject) -> EmailMessage:
    plain = {name: stored[name] for name in FIELDS}
    message = EmailMultiAlternatives(**plain, headers=stored["headers"])
    for content, mimetype in stored["alternatives"]:
        message.attach_alternative(content, mimetype)
    return message
