"""Finished runs whose answers are known, for judges."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from accounts.models import Team, User
from benchmarks import actions
from benchmarks.actions import EntrantRequest
from benchmarks.checks.verdicts import VerdictReading
from benchmarks.judges.actions import JudgeContent, JudgingRequest, create_judge, start_judging
from benchmarks.judging.rubrics import Criterion, Kind, Rubric
from benchmarks.models import (
    Case,
    Check,
    Entrant,
    ItemReply,
    Judge,
    Judging,
    Prompt,
    RenderedPrompt,
    Reply,
    Run,
    RunCount,
    RunItem,
    Score,
    Template,
    TemplateVersion,
)
from benchmarks.preparation.run_preparation import prepare
from benchmarks.scoring.ports import ScoredAnswer
from models_registry.models import LanguageModel
from tests.worlds.judges import JUDGES

# Given the positions of entrant and case.
Answer = Callable[[int, int], str]


def by_quality(entrant: int, case: int) -> str:
    """Return an answer that is better the earlier the entrant; all have about the same length."""
    filler = "This sentence explains the answer with some more words than it needs."
    return f"Case {case} has quality {4 - entrant}. {filler} That is the end."


@transaction.atomic  # a worker would prepare the run meanwhile
def answered_run(
    owner: User, models: Sequence[LanguageModel], answer: Answer = by_quality, *, cases: int = 4,
    team: Team | None = None, prompts: int = 1, **fields: Any,
) -> Run:  # fmt: skip
    """Create a finished run; an entrant without an answer ("") failed. fields: of the replies."""
    slug = f"judged-{Template.objects.count()}"
    template = Template.objects.create(owner_user=owner, team=team, slug=slug, name="Questions")
    version = TemplateVersion.objects.create(template=template)
    for position in range(prompts):
        Prompt.objects.create(
            version=version, position=position, messages=[{"role": "user", "template": "Question {{ number }}?"}]
        )
    Check.objects.create(version=version, key="some", scorer="contains")
    Case.objects.bulk_create(
        Case(version=version, position=n, key=f"case-{n}", variables={"number": n}, expected=[f"reference {n}"])
        for n in range(cases)
    )
    entrants = [EntrantRequest(model, version.prompts.all()[number % prompts]) for number, model in enumerate(models)]
    run = actions.create_run(owner=owner, team=team, version=version, entrants=entrants, name="Judged")
    RenderedPrompt.objects.bulk_create(
        RenderedPrompt(
            prompt=prompt, case=case, digest="0" * 64, characters=12,
            messages=[{"role": "user", "content": f"Question {case.position}?"}],
        )
        for case in version.cases.all()
        for prompt in version.prompts.all()
    )  # fmt: skip
    for entrant in run.entrants.all():
        _answer(entrant, answer, **fields)
    Run.objects.filter(pk=run.pk).update(
        state="done", started_at=Now(), finished_at=Now(), item_count=cases * len(models)
    )
    run.refresh_from_db()
    return run


def _answer(entrant: Entrant, answer: Answer, **fields: Any) -> None:
    run, cases = entrant.run, list(entrant.run.version.cases.all())
    RunCount.objects.bulk_create(RunCount(entrant=entrant, state=state) for state in RunItem.State)
    texts = [answer(entrant.position, case.position) for case in cases]
    items = RunItem.objects.bulk_create(
        RunItem(
            run=run, entrant=entrant, case=case, position=case.position, due_at=timezone.now(), finished_at=Now(),
            state="scored" if text else "failed", error="" if text else "cut",
        )
        for case, text in zip(cases, texts, strict=True)
    )  # fmt: skip
    replies = Reply.objects.bulk_create(
        Reply(model=entrant.model, owner=run.owner, team=run.team, text=text, **{"finish_reason": "stop", **fields})
        for text in texts
        if text
    )
    answered = [item for item, text in zip(items, texts, strict=True) if text]
    ItemReply.objects.bulk_create(
        ItemReply(item=item, reply=reply) for item, reply in zip(answered, replies, strict=True)
    )


PAIRWISE = Rubric(kind=Kind.PAIRWISE, instructions="Prefer the right answer.")
SCORES = Rubric(kind=Kind.SCORES, criteria=[Criterion(name="right", question="Is it right?")])


def judge(
    model: LanguageModel, owner: User, rubric: Rubric = PAIRWISE, *, team: Team | None = None, name: str = "Judge",
    own_family: str = Judge.OwnFamily.EXCLUDE,
) -> Judge:  # fmt: skip
    content = JudgeContent(name, model, rubric, {"temperature": 0}, own_family)
    return create_judge(owner=owner, team=team, content=content)


def judging(
    judge: Judge, subject: Run, *, owner: User | None = None, budget: str = "", is_prepared: bool = True, **options: Any
) -> Judging:
    """Start and prepare a judging, without a card unless wanted. owner: else the subject's."""
    request = JudgingRequest(judge, subject, **{"with_card": False, **options})
    with transaction.atomic():
        made = start_judging(
            request, owner=owner or subject.owner, budget=Decimal(budget) if budget else None  # type: ignore[arg-type]
        )  # fmt: skip
        if is_prepared:
            prepare(made.run_id)
    made.run.refresh_from_db()
    return made


@transaction.atomic
def answer(judging: Judging, rule: str, *, most: int | None = None) -> Judging:
    """Store the answers of a judge of tests.worlds.judges, without a worker; of the first `most` items."""
    reading = VerdictReading(judging.run)
    for item in judging.run.items.filter(state="queued").select_related("entrant__model").order_by("position")[:most]:
        messages = RenderedPrompt.objects.get(case=item.case_id).messages
        text = JUDGES[rule](messages)
        scored = reading.score_at_once(reading.read_cases([item.case_id])[item.case_id], ScoredAnswer(text=text))
        reply = Reply.objects.create(
            model=item.entrant.model, owner=judging.run.owner, team=judging.run.team, text=text
        )
        ItemReply.objects.create(item=item, reply=reply)
        Score.objects.bulk_create(Score(item=item, **row) for row in scored.checks)
        RunItem.objects.filter(pk=item.pk).update(state="scored", score=scored.value, finished_at=Now())
    if not judging.run.items.filter(state="queued").exists():
        Run.objects.filter(pk=judging.run_id).update(state="done", finished_at=Now())
    judging.run.refresh_from_db()
    return judging


def with_the_same_replies(run: Run) -> Run:
    """Create a finished run whose items have the stored replies of another one."""
    asked = [EntrantRequest(entrant.model, entrant.prompt) for entrant in run.entrants.order_by("position")]  # type: ignore[arg-type]
    with transaction.atomic():
        made = actions.create_run(owner=run.owner, team=run.team, version=run.version, entrants=asked, name="Again")
        for entrant in made.entrants.all():
            given = ItemReply.objects.filter(item__run=run, item__entrant__position=entrant.position)
            for reply in given.select_related("item"):
                item = RunItem.objects.create(
                    run=made, entrant=entrant, case=reply.item.case, position=reply.item.position, state="scored",
                    score=reply.item.score, due_at=Now(), finished_at=Now(),
                )  # fmt: skip
                ItemReply.objects.create(item=item, reply=reply.reply)
        Run.objects.filter(pk=made.pk).update(
            state="done", started_at=Now(), finished_at=Now(), item_count=run.item_count
        )
    made.refresh_from_db()
    return made


def engine_run(subject: Run) -> Run:
    """Create the empty run of a judging."""
    facts = {"owner": subject.owner, "team": subject.team, "version": subject.version}
    return Run.objects.create(is_judging=True, **facts)


def spare_item(judging: Judging) -> RunItem:
    """Create an item of a judging without a judgement."""
    [entrant] = judging.run.entrants.all()
    case = judging.run.version.cases.all()[0]
    return RunItem.objects.create(run=judging.run, entrant=entrant, case=case, repeat=1, position=0, due_at=Now())


def judges_of_each_kind(model: LanguageModel, subject: Run) -> list[Judge]:
    """Create a judge that compares and one that grades, with control pairs and verdicts on the run."""
    made = []
    for rubric, name, rule in ((PAIRWISE, "The longer one", "judge-longer"), (SCORES, "Grades", "judge-grades")):
        of_kind = judge(model, subject.owner, rubric, team=subject.team, name=name, own_family="allow")  # type: ignore[arg-type]
        answer(judging(of_kind, subject, with_card=True), rule)
        made.append(of_kind)
    return made
