"""Templates and runs with answers, without a worker or a call."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import cast

from asgiref.sync import async_to_sync
from django.db import transaction
from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone

from accounts.actor import Actor
from accounts.models import Team, User
from battles.models import Call
from benchmarks import actions
from benchmarks.actions import EntrantRequest
from benchmarks.actions.case_files import change_files
from benchmarks.actions.drafts import DraftContent
from benchmarks.models import (
    CaseFile,
    Check,
    ItemCall,
    ItemReply,
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
from benchmarks.pasting import PastedCase, read_table
from benchmarks.reports.store import compute_report, store_report
from models_registry.models import LanguageModel
from uploads.actions import store_upload
from uploads.models import Upload

CAPITALS = {
    "France": "Paris", "Japan": "Tokyo", "Peru": "Lima", "Kenya": "Nairobi", "Norway": "Oslo", "Chile": "Santiago",
    "Ghana": "Accra", "Nepal": "Kathmandu",
}  # fmt: skip
TABLE = "key\tcountry\texpected\ttags\n" + "\n".join(
    f"{country.lower()}\t{country}\t{capital}\t{'europe' if country in ('France', 'Norway') else 'far'}"
    for country, capital in CAPITALS.items()
)


@dataclass
class Sample:
    """A template with a frozen version and a draft, and a finished run."""

    template: Template
    run: Run

    @property
    def item(self) -> RunItem:
        return RunItem.objects.filter(entrant__run=self.run).order_by("pk")[0]

    @property
    def file_id(self) -> int:
        return CaseFile.objects.get(case__version=self.run.version_id).pk


def template(
    owner: User, name: str = "Capitals of the world", *, cases: bool = True, team: Team | None = None
) -> Template:
    """Create a template whose draft has a prompt, a check and the cases of CAPITALS."""
    description = "Short facts that every model should know."
    made = actions.create_template(owner=owner, name=name, description=description, team=team)
    prompt = Prompt(
        label="plain",
        messages=[
            {"role": "system", "template": "Answer with one word."},
            {"role": "user", "template": "What is the capital of {{ country }}?"},
        ],
    )
    draft = made.versions.get()
    check = Check(key="names the capital", scorer="contains")
    actions.save_draft(draft, DraftContent([prompt], [check], {"temperature": 0}))
    if cases:
        actions.add_cases(draft, read_table(TABLE))
        change_files(draft.cases.order_by("position")[0], added=[document(owner)], variable="atlas")
    return made


def document(owner: User) -> Upload:
    return store_upload(Actor(user=owner), b"The capital of France is Paris.", "atlas.txt")


def sample(
    owner: User, models: Sequence[LanguageModel], team: Team | None = None, budget: Decimal | None = None
) -> Sample:
    made = template(owner, team=team)
    run = finished_run(owner, made.versions.get(), models, budget)
    actions.start_draft(made)
    return Sample(made, run)


@transaction.atomic  # a worker would prepare the run meanwhile
def finished_run(
    owner: User, version: TemplateVersion, models: Sequence[LanguageModel], budget: Decimal | None = None
) -> Run:
    """Create a finished run; the first model knows all, the next ones less."""
    run = actions.create_run(
        owner=owner, version=version, entrants=[EntrantRequest(model) for model in models],
        name="First look", team=version.template.team, budget=budget,
    )  # fmt: skip
    prepare(run)
    cases = list(run.version.cases.all())
    for number, entrant in enumerate(run.entrants.all()):
        for case in cases:
            item = RunItem.objects.get(entrant=entrant, case=case)
            if number and case.position == 2:
                RunItem.objects.filter(pk=item.pk).update(
                    state="failed", error="cut", attempt=3, finished_at=timezone.now()
                )
                continue
            is_right = case.position % (number + 1) == 0
            answer(item, f"It is **{case.expected[0] if is_right else 'unknown'}**.", is_right=is_right)
    now = timezone.now()
    Run.objects.filter(pk=run.pk).update(state="done", started_at=now - timedelta(minutes=2), finished_at=now)
    run.refresh_from_db()
    store_report(run, compute_report(run))
    return run


@transaction.atomic
def reusing_run(owner: User, earlier: Run, *, is_reversed: bool = False) -> Run:
    """Create a finished run of the same place that was given the answers of an earlier one again.

    is_reversed: its entrants are in the opposite order.
    """
    asked = earlier.entrants.select_related("model").order_by("-position" if is_reversed else "position")
    entrants = [EntrantRequest(cast(LanguageModel, entrant.model)) for entrant in asked]
    run = actions.create_run(owner=owner, version=earlier.version, entrants=entrants, team=earlier.team, reuse_days=7)
    prepare(run)
    given = ItemReply.objects.filter(item__run=earlier).values_list("item__case", "item__entrant__model", "reply")
    for case, model, reply in given:
        item = RunItem.objects.get(run=run, case=case, entrant__model=model)
        ItemReply.objects.create(item=item, reply_id=reply, is_reused=True)
        RunItem.objects.filter(pk=item.pk).update(state="scored", finished_at=timezone.now())
    Run.objects.filter(pk=run.pk).update(state="done", started_at=timezone.now(), finished_at=timezone.now())
    run.refresh_from_db()
    store_report(run, compute_report(run))
    return run


@transaction.atomic
def live_run(owner: User, version: TemplateVersion, models: Sequence[LanguageModel]) -> Run:
    """Create a running run without answers."""
    entrants = [EntrantRequest(model) for model in models]
    run = actions.create_run(
        owner=owner, version=version, entrants=entrants, name="Under way", team=version.template.team
    )
    prepare(run)
    run.refresh_from_db()
    return run


def prepare(run: Run) -> None:
    """Store prompts and items as preparation does, without the child."""
    cases, entrants = list(run.version.cases.all()), list(run.entrants.select_related("prompt"))
    for prompt in {entrant.prompt for entrant in entrants}:
        RenderedPrompt.objects.bulk_create(
            [RenderedPrompt(
                prompt=prompt, case=case, digest="0" * 64, characters=40,
                messages=[
                    {
                        "role": message["role"],
                        "content": message["template"].replace("{{ country }}", case.variables["country"]),
                    }
                    for message in prompt.messages
                ],
            )
            for case in cases
            ],
            ignore_conflicts=True,
        )  # fmt: skip
    RunCount.objects.bulk_create(
        RunCount(entrant=entrant, state=state) for entrant in entrants for state in RunItem.State
    )
    RunItem.objects.bulk_create(
        RunItem(run=run, entrant=entrant, case=case, position=case.position, due_at=timezone.now())
        for case in cases
        for entrant in entrants
    )
    Run.objects.filter(pk=run.pk).update(item_count=len(cases) * len(entrants), state="running")


def answer(item: RunItem, text: str, *, is_right: bool) -> None:
    """Store a reply with its call and score."""
    now = timezone.now()
    call = Call.objects.create(
        model=item.entrant.model, purpose="item", attempt=1, fence=1, lease_until=now, state="done",
        first_token_ms=180, total_ms=900, prompt_tokens=24, completion_tokens=6, cost=0, finish_reason="stop",
    )  # fmt: skip
    ItemCall.objects.create(item=item, turn=0, fence=1, call=call)
    reply = Reply.objects.create(
        model=item.entrant.model, owner=item.run.owner, team=item.run.team, text=text, reasoning="Let me think.",
        call=call, finish_reason="stop",
    )  # fmt: skip
    ItemReply.objects.create(item=item, reply=reply)
    Score.objects.create(item=item, check_key="names the capital", value=float(is_right), passed=is_right)
    RunItem.objects.filter(pk=item.pk).update(
        state="scored", score=float(is_right), passed=is_right, attempt=1, finished_at=now
    )


def downloaded(response: HttpResponseBase) -> bytes:
    """Return a streamed response's content."""

    async def read() -> bytes:
        return b"".join([chunk async for chunk in cast(StreamingHttpResponse, response)])

    return async_to_sync(read)()


def change_draft(sample: Sample) -> None:
    draft = sample.template.versions.get(state="draft")
    [prompt], [check] = draft.prompts.all(), draft.checks.all()
    prompt.messages[0]["template"], check.threshold = "Answer with the name of one city.", 0.5
    prompt.pk = check.pk = None
    actions.save_draft(draft, DraftContent([prompt], [check], {"temperature": 0, "max_tokens": 50}))
    first, second = draft.cases.all()[:2]
    edited = PastedCase(second.key, {"country": "Canada"}, ["Ottawa"], second.tags)
    actions.save_cases(draft, {second.pk: edited}, deleted=[first.pk])
