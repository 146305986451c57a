from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from accounts.models.users import User, Visitor


class BanQuerySet(models.QuerySet["Ban"]):
    def in_force(self) -> "BanQuerySet":
        not_over = models.Q(expires_at=None) | models.Q(expires_at__gt=Now())
        return self.filter(not_over, lifted_at=None)


class Ban(models.Model):
    """Block of a person or network, which may still read."""

    user = models.ForeignKey(User, models.CASCADE, null=True, blank=True, related_name="bans")
    visitor = models.ForeignKey(Visitor, models.CASCADE, null=True, blank=True, related_name="bans")
    network = models.CharField(
        max_length=32, blank=True, help_text=_("As shown on a visitor's page. Blocks every visitor and member in it.")
    )
    reason = models.CharField(max_length=500, help_text=_("Shown to the blocked person."))
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, editable=False, related_name="bans_made")
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField(null=True, blank=True, help_text=_("Empty: until it is lifted."))
    lifted_at = models.DateTimeField(null=True, editable=False)
    lifted_by = models.ForeignKey(User, models.SET_NULL, null=True, editable=False, related_name="bans_lifted")

    objects = BanQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(user__isnull=False, visitor=None, network="")
                | models.Q(user=None, visitor__isnull=False, network="")
                | (models.Q(user=None, visitor=None) & ~models.Q(network="")),
                name="a_ban_is_of_one_person_or_one_network",
                violation_error_message=_("Name one of them: a user, a visitor, or a network."),
            )
        ]

    def __str__(self) -> str:
        return f"ban {self.pk}"

    @property
    def target(self) -> str:
        """Subject for the audit log; omits e-mail addresses."""
        if self.user_id is not None:
            return f"user {self.user_id}"
        return f"visitor {self.visitor_id}" if self.visitor_id is not None else f"network {self.network}"
