import hashlib
import secrets
from datetime import datetime

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from accounts.models.users import User


class InvitationQuerySet(models.QuerySet["Invitation"]):
    def open(self) -> "InvitationQuerySet":
        return self.filter(used_at=None, revoked_at=None, expires_at__gt=Now())


class Invitation(models.Model):
    """Link for one sign-up. Only the token's digest is stored."""

    email = models.EmailField(_("for"), blank=True, help_text=_("Empty: anyone with the link can use it."))
    digest = models.CharField(max_length=64, unique=True, editable=False)
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, editable=False, related_name="invitations_made")
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField(_("opens the door until"))
    used_at = models.DateTimeField(null=True, editable=False)
    used_by = models.OneToOneField(User, models.SET_NULL, null=True, editable=False, related_name="invitation")
    revoked_at = models.DateTimeField(null=True, editable=False)

    objects = InvitationQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(used_at=None) | models.Q(revoked_at=None),
                name="a_revoked_invitation_was_used_by_nobody",
            )
        ]

    def __str__(self) -> str:
        return f"invitation {self.pk}"

    @staticmethod
    def digest_of(token: str) -> str:
        return hashlib.sha256(token.encode()).hexdigest()

    @classmethod
    def issue(cls, *, email: str, expires_at: datetime, created_by: User) -> tuple["Invitation", str]:
        token = secrets.token_urlsafe(32)
        digest = cls.digest_of(token)
        return cls.objects.create(email=email, expires_at=expires_at, created_by=created_by, digest=digest), token
