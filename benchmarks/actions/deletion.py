"""Deletion of runs in batches, so that none holds locks for long. Calls stay: they are the interaction log."""

from datetime import datetime

from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from accounts.models import Team
from benchmarks.actions.runs import cancel_run
from benchmarks.actions.templates import delete_template
from benchmarks.errors import TemplateInUse, WrongState
from benchmarks.models import CaseFile, ItemReply, Judge, Judgement, Judging, Run, RunItem, Template
from benchmarks.signals import run_deleting
from benchmarks.sql import read_sql
from uploads.files.cleanup import MAX_UNUSED_AGE
from uploads.files.deletion import delete_upload
from uploads.models import Upload

BATCH = 2_000


def delete_run(run: Run) -> None:
    """Delete an ended run, what judges said about it, and replies that no other run has.

    Raises WrongState while it, a judging of it or a call is under way, and RunInUse.
    """
    judgings = list(Run.objects.filter(judging__subject=run))
    _require_ended(run, _("The run is in a state in which this is not possible."))
    for judging in judgings:
        _require_ended(judging, _("A judge is at work on the run. Cancel that first."))
    with transaction.atomic():
        run_deleting.send(sender=Run, run=run)
        _note_lost_judgements(run)
    for each in [*judgings, run]:
        _delete_ended(each)


def _note_lost_judgements(run: Run) -> None:
    # What is left is no random part of these runs' answers.
    judges = Judge.objects.filter(judgings__subject=run, judgings__is_card=False).distinct()
    if not judges:
        return
    of_others = Judging.objects.filter(judge__in=judges, is_card=False, subject__in=Run.objects.sharing_answers(run))
    for judging in of_others.select_for_update(of=["self"]).order_by("pk"):
        first, second = (
            Exists(ItemReply.objects.filter(item__run=judging.subject_id, reply=OuterRef(name)))
            for name in ("first_reply", "second_reply")
        )
        said = Judgement.objects.filter(judge=judging.judge_id, judging__subject=run, control="")
        if lost := said.filter(Q(first), Q(second_reply=None) | Q(second)).count():
            judging.left_out[Judging.DELETED] = judging.left_out.get(Judging.DELETED, 0) + lost
            judging.save(update_fields=["left_out"])


def _require_ended(run: Run, sentence: str) -> None:
    is_ended = Run.objects.filter(pk=run.pk, state__in=Run.ENDED).exists()
    if not is_ended or RunItem.objects.filter(entrant__run=run, state=RunItem.State.ANSWERING).exists():
        raise WrongState(sentence)


def _delete_ended(run: Run) -> None:
    ids = list(RunItem.objects.filter(entrant__run=run).order_by("pk").values_list("pk", flat=True))
    for first in range(0, len(ids), BATCH):
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(read_sql("delete_items.sql"), {"items": ids[first : first + BATCH]})
    template = Template.objects.filter(versions=run.version_id, kind=Template.Kind.JUDGING).first()
    with transaction.atomic():
        Judging.objects.filter(run=run).delete()
        run.delete()
        if template is not None:
            delete_template(template)


def delete_old_runs(*, before: datetime | None) -> None:
    """Delete runs that ended before the time, and those of deleted accounts; none that is published.

    Judgings go with the run that was judged.
    """
    without_owner = Q(owner=None, team=None)
    is_old = without_owner if before is None else without_owner | Q(finished_at__lt=before, is_judging=False)
    for run in Run.objects.filter(is_old, published_at=None, state__in=Run.ENDED).order_by("pk"):
        try:
            delete_run(run)
        except WrongState:
            continue  # a call of it is under way: next time
    Judge.objects.filter(owner_user=None, team=None, judgings=None, live=None).delete()


def delete_belongings(owner_id: int) -> None:
    """Delete a member's private runs and templates. Published runs and their templates stay, without an owner.

    So do those of teams, whose runs go on.
    """
    runs = Run.objects.filter(owner=owner_id, team=None)
    for run in runs.live():
        cancel_run(run)
    for run in [*runs.filter(is_judging=True), *runs.filter(is_judging=False, published_at=None)]:
        try:
            delete_run(run)
        except WrongState:
            run.name = ""  # its last calls are ending: delete_old_runs
            run.save(update_fields=["name"])
    Judge.objects.filter(owner_user=owner_id, team=None, judgings=None, live=None).delete()
    of_member = Template.objects.filter(owner_user=owner_id, team=None)
    for template in of_member.filter(visibility=Template.Visibility.PRIVATE):
        try:
            delete_template(template)
        except TemplateInUse:
            continue


def delete_team_benchmarks(team: Team) -> int:
    """Delete a team's runs, templates and files; return the number of runs that stay, as a call is under way."""
    stayed, runs = 0, Run.objects.filter(team=team).order_by("pk")
    for run in runs.live():
        cancel_run(run)
    for run in runs.filter(is_judging=False):
        try:
            delete_run(run)
        except WrongState:
            stayed += 1
    if stayed:
        return stayed
    Judge.objects.filter(team=team).delete()
    for template in Template.objects.filter(team=team).order_by("pk"):
        delete_template(template)
    for upload in Upload.objects.filter(team=team).kept():
        delete_upload(upload)
    Upload.objects.filter(team=team).update(name="")
    return 0


def delete_unused_files() -> None:
    """Delete files of teams that no case has any more."""
    in_use = CaseFile.objects.filter(upload=OuterRef("pk"))
    unused = Upload.objects.filter(~Exists(in_use), team__isnull=False, created_at__lt=Now() - MAX_UNUSED_AGE)
    for upload in unused.kept():
        delete_upload(upload)
