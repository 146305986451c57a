import pgtrigger
from django.db import models
from django.db.models.functions import Now

from benchmarks.models.runs import Run
from benchmarks.models.templates import TemplateVersion


class RunReport(models.Model):
    """Immutable report of a finished run; the newest one counts. Deleted with its run only."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="reports", db_index=False)
    number = models.PositiveSmallIntegerField()
    # Version whose checks scored the answers.
    version = models.ForeignKey(TemplateVersion, models.PROTECT, related_name="+")
    # SHA-256 of all inputs; with `method` it determines the payload.
    digest = models.CharField(max_length=64)
    method = models.CharField(max_length=40)
    # benchmarks.statistics.payload.ReportPayload.
    payload = models.JSONField()
    computed_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "number"], name="a_run_has_each_report_once")]
        triggers = [pgtrigger.Protect(name="a_report_never_changes", operation=pgtrigger.Update)]

    def __str__(self) -> str:
        return f"report {self.number} of {self.run_id}"
