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
    "cancel_run",
    "create_run",
    "freeze_version",
    "pause_run",
    "raise_budget",
    "resume_run",
    "retry_failed",
    "start_run",
]
