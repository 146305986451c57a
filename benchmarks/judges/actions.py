"""Make and change judges, and start judgings. Their runs are paused, resumed and cancelled as all runs."""

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

import msgspec
from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from accounts.models import Team, User
from benchmarks.actions.runs import (
    EntrantRequest,
    check_budget,
    has_images,
    models_to_ask,
    require_active,
    require_room_for_run,
)
from benchmarks.errors import RunNotPossible, WrongState
from benchmarks.judges.estimates import estimate_judging, has_card
from benchmarks.judging.prompts import PROMPT_VERSION, REPAIR
from benchmarks.judging.rubrics import Rubric
from benchmarks.models import Entrant, Judge, Judging, Prompt, Run, Template, TemplateVersion
from benchmarks.tasks import wake_after_commit
from common.errors import InvalidInput
from common.payload_types import JsonObject
from models_registry.models import LanguageModel

PARAMETERS: Mapping[str, object] = {"temperature": 0}
MAX_PAIRS_PER_CASE = 1_225  # all pairs of Run.MAX_ENTRANTS


@dataclass(frozen=True)
class JudgeContent:
    """Content of a judge. A change of it, but for the name, makes a new number."""

    name: str
    model: LanguageModel
    rubric: Rubric
    parameters: JsonObject
    own_family: str = Judge.OwnFamily.EXCLUDE

    def facts(self) -> JsonObject:
        return {
            "model": self.model, "kind": self.rubric.kind.value, "rubric": msgspec.to_builtins(self.rubric),
            "prompt_version": PROMPT_VERSION, "parameters": self.parameters, "own_family": self.own_family,
        }  # fmt: skip


@transaction.atomic
def create_judge(*, owner: User, content: JudgeContent, team: Team | None = None) -> Judge:
    """Raises RunNotPossible for a model of another place."""
    _require_place(content.model, team)
    judge = Judge(owner_user=owner, team=team, name=content.name, **content.facts())
    judge.series = judge.public_id
    judge.save()
    return judge


@transaction.atomic
def edit_judge(judge: Judge, content: JudgeContent) -> Judge:
    """Return the judge's new number, which takes the place of this one; the same one for a new name alone.

    Raises WrongState for a number that is not in use, RunNotPossible as create_judge.
    """
    judge = Judge.objects.select_for_update(of=["self"]).select_related("team", "model").get(pk=judge.pk)
    if judge.archived_at is not None:
        raise WrongState(_("This judge is archived, or was replaced by a newer number."))
    facts = content.facts()
    if all(getattr(judge, name) == value for name, value in facts.items()):
        judge.name = content.name
        judge.save(update_fields=["name"])
        return judge
    _require_place(content.model, judge.team)
    Judge.objects.filter(pk=judge.pk).update(archived_at=Now())
    return Judge.objects.create(
        owner_user=judge.owner_user, team=judge.team, series=judge.series, number=judge.number + 1,
        name=content.name, **facts,
    )  # fmt: skip


def archive_judge(judge: Judge) -> None:
    """Hide a judge from lists; its judgements stay."""
    Judge.objects.filter(pk=judge.pk, archived_at=None).update(archived_at=Now())


def _require_place(model: LanguageModel, team: Team | None) -> None:
    if model.team_id is not None and model.team_id != (None if team is None else team.pk):
        raise RunNotPossible(fields={"model": [_("There is no model “%(id)s”.") % {"id": model.slug}]})


@dataclass(frozen=True)
class JudgingRequest:
    """pairs_per_case: of the regular plan; None for as many as entrants. with_card: None for judges without a card."""

    judge: Judge
    subject: Run
    plan: str = Judging.Plan.ALL
    pairs_per_case: int | None = None
    orders: str = Judging.Orders.BOTH
    with_card: bool | None = None
    is_card: bool = False

    def judging(self) -> Judging:
        """Return it unsaved. Raises InvalidInput."""
        if self.pairs_per_case is not None and not 1 <= self.pairs_per_case <= MAX_PAIRS_PER_CASE:
            sentence = _("Choose a number from 1 to %(most)s.") % {"most": MAX_PAIRS_PER_CASE}
            raise InvalidInput(fields={"pairs_per_case": [sentence]})
        with_card = self.is_card or (not has_card(self.judge) if self.with_card is None else self.with_card)
        return Judging(
            judge=self.judge, subject=self.subject, plan=self.plan, pairs_per_case=self.pairs_per_case,
            orders=self.orders, with_card=with_card, is_card=self.is_card,
        )  # fmt: skip


def start_judging(
    request: JudgingRequest, *, owner: User, budget: Decimal | None = None, starts_at_once: bool = True
) -> Judging:
    """Have the judge asked about a run's replies; only questions that it has not answered.

    budget: US dollars. Raises InvalidInput, RunNotPossible, TooManyRuns, NotInTeam and WrongState for an archived
    judge.
    """
    with transaction.atomic():
        require_room_for_run(owner)
        judging, subject, judge = request.judging(), request.subject, request.judge
        if subject.team is not None:
            require_active(subject.team)
        if judge.archived_at is not None:
            raise WrongState(_("This judge is archived, or was replaced by a newer number."))
        if judge.prompt_version != PROMPT_VERSION:
            raise WrongState(_("The arena asks judges in new words now. Save this judge again, as a new number."))
        if judge.team_id != subject.team_id or (judge.team_id is None and judge.owner_user_id != subject.owner_id):
            raise RunNotPossible(_("The judge and the run belong to different places."))
        if subject.state in (Run.State.PREPARING, Run.State.FAILED) or subject.is_judging:
            raise RunNotPossible(_("The run has no answers to judge."))
        _require_questions(judging)
        entrant = EntrantRequest(judge.model, parameters=judge.parameters)
        [model] = models_to_ask([entrant], subject.team, with_images=has_images(subject.version)).values()
        if model.is_paid:
            check_budget(budget, [entrant], {})
        judging.run = _create_run(judging, owner, budget=budget, is_paid=model.is_paid, starts_at_once=starts_at_once)
        judging.save()
        wake_after_commit(judging.run)
    return judging


def _require_questions(judging: Judging) -> None:
    estimated = estimate_judging(judging)
    if estimated.questions > Run.MAX_ITEMS:
        raise RunNotPossible(_("A run has at most %(most)s items.") % {"most": Run.MAX_ITEMS})
    if not estimated.calls:
        raise RunNotPossible(
            _("This judge has judged all of it already.") if estimated.judged
            else _("The run has no answers that this judge can compare.") if judging.judge.kind == Judge.Kind.PAIRWISE
            else _("The run has no answers to judge.")
        )  # fmt: skip


def _create_run(
    judging: Judging, owner: User, *, budget: Decimal | None, is_paid: bool, starts_at_once: bool
) -> Run:  # fmt: skip
    judge, subject = judging.judge, judging.subject
    template = Template.objects.create(
        owner_user=owner, team=subject.team, slug=f"judging-{secrets.token_hex(8)}", name=judge.name,
        kind=Template.Kind.JUDGING, held_out=True,
    )  # fmt: skip
    version = TemplateVersion.objects.create(template=template)
    prompt = Prompt.objects.create(version=version, label=judge.name[:80], messages=[], turns=[REPAIR])
    run = Run.objects.create(
        version=version, owner=owner, team=subject.team, name=judge.name, is_judging=True, is_paid=is_paid,
        budget=budget, starts_at_once=starts_at_once, order_seed=subject.order_seed, entrant_count=1,
    )  # fmt: skip
    digest = hashlib.sha256(msgspec.json.encode(judge.parameters, order="deterministic")).hexdigest()
    Entrant.objects.create(
        run=run, position=0, model=judge.model, prompt=prompt, parameters=judge.parameters, parameters_digest=digest
    )
    return run
