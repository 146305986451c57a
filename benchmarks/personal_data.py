from django.dispatch import receiver

from accounts.actor import Actor
from accounts.models import User
from accounts.personal_data import account_deleting, personal_data_requested
from benchmarks.actions.deletion import delete_belongings
from benchmarks.judges.payloads import JudgePayload, judge_payload
from benchmarks.models import Judge, LiveJudgement, Run, Template
from benchmarks.payload_types import BattleJudgementPayload, ExportedTemplatePayload, RunSummaryPayload
from benchmarks.payloads import case_payload, run_summary, template_payload
from benchmarks.queries.listing import progress_of


@receiver(personal_data_requested)
def export_templates(user: User, **_: object) -> dict[str, list[ExportedTemplatePayload]]:
    templates = Template.objects.filter(owner_user=user, team=None).exclude(kind=Template.Kind.JUDGING)
    return {"benchmark_templates": [_with_cases(template, Actor(user)) for template in templates.order_by("pk")]}


def _with_cases(template: Template, actor: Actor) -> ExportedTemplatePayload:
    newest = template.versions.order_by("-number").first()
    cases = [] if newest is None else newest.cases.prefetch_related("files__upload").order_by("position")
    return {**template_payload(template, actor), "cases": [case_payload(case) for case in cases]}


@receiver(personal_data_requested)
def export_runs(user: User, **_: object) -> dict[str, list[RunSummaryPayload]]:
    runs = list(
        Run.objects.filter(owner=user, team=None, is_judging=False).select_related("version__template").order_by("pk")
    )
    progress = progress_of(runs)
    return {"benchmark_runs": [run_summary(run, Actor(user), progress[run.pk]) for run in runs]}


@receiver(personal_data_requested)
def export_judges(user: User, **_: object) -> dict[str, list[JudgePayload]]:
    judges = Judge.objects.filter(owner_user=user, team=None).select_related("model__team", "team").order_by("pk")
    payloads = [judge_payload(judge, Actor(user)) for judge in judges]
    return {"benchmark_judges": payloads} if payloads else {}


@receiver(personal_data_requested)
def export_battle_judgements(user: User, **_: object) -> dict[str, list[BattleJudgementPayload]]:
    judgements = LiveJudgement.objects.filter(draw__battle__session__owner_user=user)
    payloads: list[BattleJudgementPayload] = [
        {
            "battle": judgement.draw.battle.public_id,
            "judge": judgement.draw.live_judge.judge.name,
            "number": judgement.draw.live_judge.judge.number,
            "first_shown": "right" if judgement.is_swapped else "left",
            "outcome": judgement.outcome,
            "answer": judgement.text,
            "finished_at": judgement.finished_at,
        }
        for judgement in judgements.select_related("draw__battle", "draw__live_judge__judge").order_by("pk")
    ]
    return {"battle_judgements": payloads} if payloads else {}


@receiver(account_deleting)
def delete_benchmarks(user: User, **_: object) -> None:
    delete_belongings(user.pk)
