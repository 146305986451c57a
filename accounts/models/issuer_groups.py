from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models.teams import Role, Team


class IssuerGroup(models.Model):
    """People whom an issuer names in a group are members of a team."""

    team = models.ForeignKey(Team, models.CASCADE, related_name="issuer_groups", verbose_name=_("team"))
    # Key of an issuer in the settings.
    issuer = models.CharField(_("issuer"), max_length=40)
    claim = models.CharField(
        _("claim"), max_length=200, default="groups",
        help_text=_("Its name, or a path such as realm_access.roles."),
    )  # fmt: skip
    group = models.CharField(_("group"), max_length=500, help_text=_("As the issuer writes it: a name, path or id."))
    role = models.CharField(_("role"), max_length=7, choices=Role, default=Role.MEMBER)

    class Meta:
        ordering = ["team", "issuer", "claim", "group"]
        verbose_name = _("group of an issuer")
        verbose_name_plural = _("groups of issuers")
        constraints = [
            models.UniqueConstraint(
                fields=["team", "issuer", "claim", "group"], name="a_group_gives_one_role_in_a_team",
                violation_error_message=_("This group already has a role in the team."),
            )
        ]  # fmt: skip

    def __str__(self) -> str:
        return f"{self.group} → {self.team}"
