import hashlib
import secrets
from datetime import datetime

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from accounts.models.teams import Role, Team
from accounts.models.users import User
from common.ids import new_public_id


class InvitationQuerySet(models.QuerySet["Invitation"]):
    def open(self) -> "InvitationQuerySet":
        # An update with a join would not see what another one at once has just used up.
        of_active = models.Exists(Team.objects.filter(pk=models.OuterRef("team"), archived_at=None))
        of_place = models.Q(team=None) | of_active
        return self.filter(of_place, used_at=None, revoked_at=None, expires_at__gt=Now())

    def with_token(self, token: str) -> "InvitationQuerySet":
        return self.filter(digest=Invitation.digest_of(token))


class Invitation(models.Model):
    """Link for a sign-up, or into a team. Only the token's digest is stored."""

    # NULL only where it was made before invitations had ids.
    public_id = models.CharField(  # noqa: DJ001 (unique, if there)
        max_length=22, unique=True, null=True, default=new_public_id, editable=False
    )
    email = models.EmailField(_("for"), blank=True, help_text=_("Empty: anyone with the link can use it."))
    team = models.ForeignKey(
        Team, models.CASCADE, null=True, editable=False, related_name="invitations", verbose_name=_("team")
    )
    # The new member's; "" without a team.
    role = models.CharField(_("role"), max_length=7, choices=Role, blank=True, db_default="", editable=False)
    uses_left = models.PositiveSmallIntegerField(_("uses left"), default=1, db_default=1, editable=False)
    # Ids of the people who joined the team by it: none of them, once removed, comes back by the same link.
    joined = ArrayField(models.BigIntegerField(), default=list, db_default=[], editable=False)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, editable=False, related_name="invitations_made")
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField(_("opens the door until"))
    # The time of the last use.
    used_at = models.DateTimeField(null=True, editable=False)
    used_by = models.OneToOneField(User, models.SET_NULL, null=True, editable=False, related_name="invitation")
    revoked_at = models.DateTimeField(null=True, editable=False)

    objects = InvitationQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(used_at=None) | models.Q(revoked_at=None),
                name="a_revoked_invitation_was_used_by_nobody",
            ),
            models.CheckConstraint(
                condition=models.Q(team=None, role="", uses_left__lte=1)
                | (models.Q(team__isnull=False) & ~models.Q(role="")),
                name="an_invitation_to_a_team_names_a_role",
            ),
        ]

    def __str__(self) -> str:
        return f"invitation {self.pk}"

    @staticmethod
    def digest_of(token: str) -> str:
        return hashlib.sha256(token.encode()).hexdigest()

    @classmethod
    def issue(
        cls,
        *,
        email: str,
        expires_at: datetime,
        created_by: User,
        team: Team | None = None,
        role: str = "",
        uses: int = 1,
    ) -> tuple["Invitation", str]:
        token = secrets.token_urlsafe(32)
        row = cls.objects.create(
            email=email, expires_at=expires_at, created_by=created_by, team=team, role=role, uses_left=uses,
            digest=cls.digest_of(token),
        )  # fmt: skip
        return row, token
