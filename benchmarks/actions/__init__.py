from benchmarks.actions.built_in import store_built_in_templates
from benchmarks.actions.drafts import (
    add_cases,
    copy_template,
    create_template,
    save_cases,
    save_draft,
    start_draft,
    update_template,
)
from benchmarks.actions.grading import grade_item
from benchmarks.actions.leaving_out import leave_out
from benchmarks.actions.publishing import has_team_models, publish_run, withdraw_run
from benchmarks.actions.rescoring import rescore_run
from benchmarks.actions.runs import (
    EntrantRequest,
    cancel_run,
    create_run,
    pause_run,
    pause_runs,
    raise_budget,
    rename_run,
    resume_run,
    resume_team_runs,
    retry_failed,
    start_run,
)
from benchmarks.actions.templates import archive_template, delete_template, freeze_version

__all__ = [
    "EntrantRequest",
    "add_cases",
    "archive_template",
    "cancel_run",
    "copy_template",
    "create_run",
    "create_template",
    "delete_template",
    "freeze_version",
    "grade_item",
    "has_team_models",
    "leave_out",
    "pause_run",
    "pause_runs",
    "publish_run",
    "raise_budget",
    "rename_run",
    "rescore_run",
    "resume_run",
    "resume_team_runs",
    "retry_failed",
    "save_cases",
    "save_draft",
    "start_draft",
    "start_run",
    "store_built_in_templates",
    "update_template",
    "withdraw_run",
]
