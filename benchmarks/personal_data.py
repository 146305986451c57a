from django.dispatch import receiver

from accounts.actor import Actor
from accounts.models import User
from accounts.personal_data import account_deleting, personal_data_requested
from benchmarks.actions.deletion import delete_belongings
from benchmarks.models import Run, Template
from benchmarks.payload_types import ExportedTemplatePayload, RunSummaryPayload
from benchmarks.payloads import case_payload, run_summary, template_payload
from benchmarks.queries.listing import progress_of


@receiver(personal_data_requested)
def export_templates(user: User, **_: object) -> dict[str, list[ExportedTemplatePayload]]:
    templates = Template.objects.filter(owner_user=user, team=None).order_by("pk")
    return {"benchmark_templates": [_with_cases(template, Actor(user)) for template in templates]}


def _with_cases(template: Template, actor: Actor) -> ExportedTemplatePayload:
    newest = template.versions.order_by("-number").first()
    cases = [] if newest is None else newest.cases.prefetch_related("files__upload").order_by("position")
    return {**template_payload(template, actor), "cases": [case_payload(case) for case in cases]}


@receiver(personal_data_requested)
def export_runs(user: User, **_: object) -> dict[str, list[RunSummaryPayload]]:
    runs = list(Run.objects.filter(owner=user, team=None).select_related("version__template").order_by("pk"))
    progress = progress_of(runs)
    return {"benchmark_runs": [run_summary(run, Actor(user), progress[run.pk]) for run in runs]}


@receiver(account_deleting)
def delete_benchmarks(user: User, **_: object) -> None:
    delete_belongings(user.pk)
