from django.db import models
from django.db.models.functions import Now


class OutgoingEmailQuerySet(models.QuerySet["OutgoingEmail"]):
    def due(self) -> "OutgoingEmailQuerySet":
        return self.filter(due_at__lte=Now())


class OutgoingEmail(models.Model):
    """E-mail to send; accounts.outgoing_email deletes the row afterwards."""

    message = models.JSONField()
    created_at = models.DateTimeField(db_default=Now())
    attempts = models.PositiveSmallIntegerField(default=0)
    # Also the lease of the worker that sends it.
    due_at = models.DateTimeField(db_default=Now())

    objects = OutgoingEmailQuerySet.as_manager()

    def __str__(self) -> str:
        return f"e-mail {self.pk}"
