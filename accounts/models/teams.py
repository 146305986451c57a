from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

import pgtrigger
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models.functions import Now
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from accounts.models.users import User
from common.ids import new_public_id

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

# An archived team can be restored for this time; then its texts are deleted.
ARCHIVED_FOR = timedelta(days=30)
# US dollars, and requests; the database refuses more.
MAX_BUDGET = MAX_REQUESTS = 1_000_000
TEAM_SLUG = r"[a-z0-9]+(?:-[a-z0-9]+)*"

_OWNER_IS_MISSING = """
    IF EXISTS (
        SELECT FROM accounts_team AS team
        WHERE team.id = {team} AND team.archived_at IS NULL AND team.waits_since IS NULL
            AND NOT EXISTS (SELECT FROM accounts_teammember WHERE team_id = team.id AND role = 'owner')
    ) THEN
        RAISE EXCEPTION 'a_team_has_one_owner_at_least' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NULL;
"""


def _budget(verbose_name: "_StrPromise") -> "models.DecimalField[Decimal | None, Decimal | None]":
    """Return a field of US dollars; NULL for no limit."""
    return models.DecimalField(
        verbose_name, max_digits=9, decimal_places=2, null=True, blank=True,
        validators=[MinValueValidator(Decimal(0)), MaxValueValidator(Decimal(MAX_BUDGET))],
    )  # fmt: skip


class TeamQuerySet(models.QuerySet["Team"]):
    def active(self) -> "TeamQuerySet":
        return self.filter(archived_at=None)

    def due_for_removal(self) -> "TeamQuerySet":
        return self.filter(archived_at__lt=Now() - ARCHIVED_FOR, removed_at=None)


class Team(models.Model):
    """Group of members that shares sessions, results and settings in this arena."""

    class Colour(models.TextChoices):
        BLUE = "blue", _("blue")
        GREEN = "green", _("green")
        TEAL = "teal", _("teal")
        PURPLE = "purple", _("purple")
        RED = "red", _("red")
        ORANGE = "orange", _("orange")
        GREY = "grey", _("grey")

    slug = models.CharField(
        _("address"), max_length=40, unique=True, validators=[RegexValidator(rf"^{TEAM_SLUG}\Z")],
        help_text=_("Lowercase letters, digits and single hyphens."),
    )  # fmt: skip
    name = models.CharField(_("name"), max_length=80)
    colour = models.CharField(_("colour"), max_length=6, choices=Colour, default=Colour.BLUE)
    counts_on_site_boards = models.BooleanField(
        _("counts on the site's boards"), default=False, db_default=False,
        help_text=_("Votes on two models of the site also count on the site's boards."),
    )  # fmt: skip
    uses_site_models = models.BooleanField(
        _("also uses the site's models"), default=True, db_default=True,
        help_text=_("Otherwise it has only those that it added itself."),
    )  # fmt: skip
    # Chosen by administrators; other providers of the team have public addresses.
    private_hosts = ArrayField(
        models.CharField(max_length=255), verbose_name=_("hosts in private networks"), default=list, db_default=[],
        blank=True,
    )  # fmt: skip
    day_budget = _budget(_("US dollars a day"))
    month_budget = _budget(_("US dollars a month"))
    # Each member's own quotas.
    member_month_budget = _budget(_("US dollars a month for each member"))
    member_month_requests = models.PositiveIntegerField(
        _("requests a month for each member"),
        null=True,
        blank=True,
        validators=[MaxValueValidator(MAX_REQUESTS)],
    )
    # First day of the month in which owners were told that 80 % of month_budget is used.
    told_month = models.DateField(null=True, blank=True, editable=False)
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, editable=False, related_name="+")
    created_at = models.DateTimeField(db_default=Now())
    archived_at = models.DateTimeField(null=True, blank=True, editable=False)
    # Set when the texts of an archived team are deleted; its row keeps the votes' place.
    removed_at = models.DateTimeField(null=True, blank=True, editable=False)
    # Set when the last owner left without a manager to follow: an administrator chooses an owner.
    waits_since = models.DateTimeField(null=True, blank=True, editable=False)

    objects = TeamQuerySet.as_manager()

    class Meta:
        ordering = ["name", "pk"]
        verbose_name = _("team")
        verbose_name_plural = _("teams")
        constraints = [
            models.CheckConstraint(
                condition=models.Q(
                    day_budget__range=(0, MAX_BUDGET),
                    month_budget__range=(0, MAX_BUDGET),
                    member_month_budget__range=(0, MAX_BUDGET),
                    member_month_requests__lte=MAX_REQUESTS,
                ),
                name="a_teams_budgets_are_between_0_and_a_million",
            )
        ]
        triggers = [
            pgtrigger.Trigger(
                name="a_new_team_has_one_owner_at_least",
                when=pgtrigger.After,
                operation=pgtrigger.Insert | pgtrigger.UpdateOf("archived_at", "waits_since"),  # type: ignore[no-untyped-call]
                timing=pgtrigger.Deferred,
                func=_OWNER_IS_MISSING.format(team="NEW.id"),
            )
        ]

    def __str__(self) -> str:
        return self.name or self.slug

    def get_absolute_url(self) -> str:
        return reverse("teams:team", args=[self.slug])


class Role(models.TextChoices):
    OWNER = "owner", _("owner")
    MANAGER = "manager", _("manager")
    MEMBER = "member", _("member")
    GUEST = "guest", _("guest")


class TeamMemberQuerySet(models.QuerySet["TeamMember"]):
    def active(self) -> "TeamMemberQuerySet":
        return self.filter(team__archived_at=None)

    def with_member_count(self) -> "TeamMemberQuerySet":
        """Annotate member_count: of the member's team."""
        of_team = TeamMember.objects.filter(team=models.OuterRef("team")).order_by().values("team")
        return self.annotate(member_count=models.Subquery(of_team.values(n=models.Count("pk"))))


class TeamMember(models.Model):
    class Origin(models.TextChoices):
        HAND = "hand", _("by hand")
        INVITATION = "invitation", _("by invitation")
        ISSUER = "issuer", _("by single sign-on")

    public_id = models.CharField(  # noqa: DJ001 (unique, if there)
        max_length=22, unique=True, null=True, default=new_public_id, editable=False
    )
    team = models.ForeignKey(Team, models.CASCADE, related_name="members")
    user = models.ForeignKey(User, models.CASCADE, related_name="team_members")
    role = models.CharField(_("role"), max_length=7, choices=Role, default=Role.MEMBER)
    origin = models.CharField(_("origin"), max_length=10, choices=Origin, default=Origin.HAND)
    joined_at = models.DateTimeField(db_default=Now())

    objects = TeamMemberQuerySet.as_manager()

    class Meta:
        verbose_name = _("member of a team")
        verbose_name_plural = _("members of teams")
        constraints = [models.UniqueConstraint(fields=["team", "user"], name="a_person_is_in_a_team_once")]
        indexes = [
            # The longest-serving manager follows the last owner.
            models.Index(fields=["team", "role", "joined_at"], name="members_of_a_team_by_role")
        ]
        triggers = [
            pgtrigger.Trigger(
                name="a_team_has_one_owner_at_least",
                when=pgtrigger.After,
                operation=pgtrigger.UpdateOf("role", "team_id") | pgtrigger.Delete,  # type: ignore[no-untyped-call]
                timing=pgtrigger.Deferred,
                condition=pgtrigger.Q(old__role="owner"),
                func=_OWNER_IS_MISSING.format(team="OLD.team_id"),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user} in {self.team}"
