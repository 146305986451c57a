"""Deletion of runs in batches, so that none holds locks for long. Calls stay: they are the interaction log."""

from datetime import datetime

from django.db import connection, transaction
from django.db.models import Q

from benchmarks.actions.runs import cancel_run
from benchmarks.actions.templates import delete_template
from benchmarks.errors import TemplateInUse, WrongState
from benchmarks.models import Run, RunItem, Template
from benchmarks.sql import read_sql

BATCH = 2_000


def delete_run(run: Run) -> None:
    """Delete an ended run and replies that no other run has. Raises WrongState while it or a call is under way."""
    items = RunItem.objects.filter(entrant__run=run)
    is_ended = Run.objects.filter(pk=run.pk, state__in=Run.ENDED).exists()
    if not is_ended or items.filter(state=RunItem.State.ANSWERING).exists():
        raise WrongState
    ids = list(items.order_by("pk").values_list("pk", flat=True))
    for first in range(0, len(ids), BATCH):
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(read_sql("delete_items.sql"), {"items": ids[first : first + BATCH]})
    run.delete()


def delete_old_runs(*, before: datetime | None) -> None:
    """Delete runs that ended before the time, and those of deleted accounts; none that is published."""
    is_old = Q(owner=None) if before is None else Q(owner=None) | Q(finished_at__lt=before)
    for run in Run.objects.filter(is_old, published_at=None, state__in=Run.ENDED).order_by("pk"):
        try:
            delete_run(run)
        except WrongState:
            continue  # a call of it is under way: next time


def delete_belongings(owner_id: int) -> None:
    """Delete a member's private runs and templates. Published runs and their templates stay, without an owner."""
    runs = Run.objects.filter(owner=owner_id)
    for run in runs.live():
        cancel_run(run)
    for run in runs.filter(published_at=None):
        try:
            delete_run(run)
        except WrongState:
            run.name = ""  # its last calls are ending: delete_old_runs
            run.save(update_fields=["name"])
    for template in Template.objects.filter(owner_user=owner_id, visibility=Template.Visibility.PRIVATE):
        try:
            delete_template(template)
        except TemplateInUse:
            continue
