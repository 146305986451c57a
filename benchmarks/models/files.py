import pgtrigger
from django.db import models
from django.db.models import Q

from benchmarks.models.templates import Case
from uploads.models import Upload

_FILE_OF_ANOTHER_PLACE = """
    IF NOT EXISTS (
        SELECT FROM benchmarks_case AS owner
        JOIN benchmarks_templateversion AS version ON version.id = owner.version_id
        JOIN benchmarks_template AS template ON template.id = version.template_id
        JOIN uploads_upload AS upload ON upload.team_id IS NOT DISTINCT FROM template.team_id
        WHERE owner.id = NEW.case_id AND upload.id = NEW.upload_id
    ) THEN
        RAISE EXCEPTION 'a_cases_file_is_of_its_place' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
"""


class CaseFile(models.Model):
    """File of a case: a document's text goes before the prompt, a picture beside it."""

    MAX_PER_CASE = 6

    case = models.ForeignKey(Case, models.CASCADE, related_name="files", db_index=False)
    upload = models.ForeignKey(Upload, models.PROTECT, related_name="case_files")
    # Variable in which templates read the file's name.
    variable = models.CharField(max_length=120)
    position = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ["case", "position"]
        constraints = [
            models.UniqueConstraint(fields=["case", "position"], name="a_case_has_its_files_in_order"),
            models.UniqueConstraint(fields=["case", "upload"], name="a_case_has_a_file_once"),
            models.CheckConstraint(condition=Q(position__lt=6), name="a_case_has_six_files_at_most"),
        ]
        triggers = [
            pgtrigger.Trigger(
                name="a_cases_file_is_of_its_place", when=pgtrigger.After, timing=pgtrigger.Immediate,
                operation=pgtrigger.Insert | pgtrigger.Update, func=_FILE_OF_ANOTHER_PLACE,
            ),
            pgtrigger.Trigger(
                name="files_of_a_run_never_change", when=pgtrigger.Before,
                operation=pgtrigger.Insert | pgtrigger.Update | pgtrigger.Delete,
                func="""
                    IF EXISTS (
                        SELECT FROM benchmarks_case AS owner
                        JOIN benchmarks_templateversion AS version ON version.id = owner.version_id
                        WHERE owner.id IN (OLD.case_id, NEW.case_id) AND version.state = 'frozen'
                    ) THEN
                        RAISE EXCEPTION 'what_a_run_used_never_changes: % of a frozen version', TG_TABLE_NAME;
                    END IF;
                    IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
                    RETURN NEW;
                """,
            ),
        ]  # fmt: skip

    def __str__(self) -> str:
        return f"{self.variable} of {self.case_id}"
