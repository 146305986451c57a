from benchmarks.actions.drafts import add_cases, create_template, save_cases, save_draft, start_draft, update_template
from benchmarks.actions.grading import grade_item
from benchmarks.actions.publishing import publish_run, withdraw_run
from benchmarks.actions.rescoring import rescore_run
from benchmarks.actions.runs import (
    EntrantRequest,
    cancel_run,
    create_run,
    pause_run,
    raise_budget,
    resume_run,
    retry_failed,
    start_run,
)
from benchmarks.actions.templates import freeze_version

__all__ = [
    "EntrantRequest",
    "add_cases",
    "cancel_run",
    "create_run",
    "create_template",
    "freeze_version",
    "grade_item",
    "pause_run",
    "publish_run",
    "raise_budget",
    "rescore_run",
    "resume_run",
    "retry_failed",
    "save_cases",
    "save_draft",
    "start_draft",
    "start_run",
    "update_template",
    "withdraw_run",
]
