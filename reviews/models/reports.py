import pgtrigger
from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from accounts.models import Team
from common.ids import new_public_id


class DecisionReport(models.Model):
    """Question, the results that answer it, and all that they were computed from, as one text that never changes."""

    class Subject(models.TextChoices):
        RUN = "run", _("run")
        CAMPAIGN = "campaign", _("campaign")
        BOARD = "board", _("board")

    MAX_QUESTION = 300

    public_id = models.CharField(max_length=22, unique=True, default=new_public_id, editable=False)
    # The owner; in a team, who made it.
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="decision_reports")
    team = models.ForeignKey(Team, models.PROTECT, null=True, related_name="decision_reports", db_index=False)
    subject = models.CharField(max_length=8, choices=Subject)
    question = models.CharField(max_length=MAX_QUESTION)
    # Canonical JSON of reviews.reports.document.Document. A text, because jsonb rewrites numbers.
    document = models.TextField()
    # SHA-256 of the document, hexadecimal.
    checksum = models.CharField(max_length=64)
    # A model of the team must not become known outside.
    has_team_models = models.BooleanField(default=False)
    created_at = models.DateTimeField(db_default=Now())
    published_at = models.DateTimeField(null=True)
    # False: others read numbers only.
    publishes_names = models.BooleanField(default=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(published_at=None) | Q(has_team_models=False),
                name="a_published_report_has_the_sites_models",
            ),
        ]
        indexes = [
            models.Index(fields=["team", "-id"], name="reports_of_a_team", condition=Q(team__isnull=False)),
        ]
        triggers = [
            pgtrigger.ReadOnly(
                name="a_decision_report_never_changes",
                fields=[
                    "public_id", "team", "subject", "question", "document", "checksum", "has_team_models", "created_at",
                ],
            ),
        ]  # fmt: skip

    def __str__(self) -> str:
        return f"decision report {self.public_id}"
