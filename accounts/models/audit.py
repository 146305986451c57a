import pgtrigger
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from accounts.models.users import User
from common.db.triggers import forbid_truncate


class AuditEntry(models.Model):
    """Change by staff or a command. Triggers forbid editing and deleting."""

    user = models.ForeignKey(User, models.SET_NULL, null=True, related_name="audit_entries")
    action = models.CharField(max_length=60)
    subject = models.CharField(max_length=200)
    reason = models.TextField(blank=True)
    details = models.JSONField(default=dict)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name_plural = _("audit entries")
        ordering = ["-pk"]
        triggers = [
            pgtrigger.ReadOnly(
                name="an_audit_entry_never_changes", fields=["action", "subject", "reason", "details", "created_at"]
            ),
            # Deleting an account sets `user` to NULL.
            pgtrigger.Protect(
                name="an_audit_entry_is_given_to_nobody",
                operation=pgtrigger.Update,
                condition=pgtrigger.Q(new__user__isnull=False) & pgtrigger.Q(old__user__df=pgtrigger.F("new__user")),
            ),
            pgtrigger.Protect(name="an_audit_entry_is_never_deleted", operation=pgtrigger.Delete),
            forbid_truncate("the_audit_log_is_never_emptied"),
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.subject}"
