"""Start, pause, resume, cancel and repeat runs. Every change of a state locks the run's row."""

import hashlib
import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal

import msgspec
from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from accounts import audit
from accounts.errors import NotInTeam
from accounts.models import Team, User
from benchmarks.actions.case_files import require_usable_files
from benchmarks.actions.templates import freeze_version
from benchmarks.errors import RunNotPossible, TooManyRuns, WrongState
from benchmarks.estimates import answer_cap
from benchmarks.models import CaseFile, Entrant, Judge, Prompt, Run, RunItem, TemplateVersion
from benchmarks.models.entrant_calls import let_go_on
from benchmarks.tasks import wake_after_commit
from common.errors import InvalidInput
from common.payload_types import JsonObject
from common.text.money import plain_decimal
from models_registry.models import LanguageModel
from uploads.models import Upload


@dataclass(frozen=True)
class EntrantRequest:
    """A model, and the prompt that asks it; without one, the version's first."""

    model: LanguageModel
    prompt: Prompt | None = None
    parameters: JsonObject = field(default_factory=dict)
    label: str = ""
    is_baseline: bool = False


def create_run(
    *,
    owner: User,
    version: TemplateVersion,
    entrants: Sequence[EntrantRequest],
    team: Team | None = None,
    name: str = "",
    repeats: int = 1,
    concurrency: int = 16,
    attempts: int = 3,
    budget: Decimal | None = None,
    reuse_days: int | None = None,
    starts_at_once: bool = True,
) -> Run:
    """Store a run and have it prepared; its calls begin then, or after start_run.

    team: as access.place_of_run. budget: US dollars. reuse_days: see Run. Freezes the version. Raises InvalidInput,
    RunNotPossible, TooManyRuns and NotInTeam.
    """
    _check_numbers(len(entrants), repeats, concurrency, attempts, reuse_days)
    with transaction.atomic():
        require_room_for_run(owner)
        if team is not None:
            require_active(team)
        version = freeze_version(version)
        if version.case_count * len(entrants) * repeats > Run.MAX_ITEMS:
            raise InvalidInput(_("A run has at most %(most)s items.") % {"most": Run.MAX_ITEMS})
        require_usable_files(version)
        models = models_to_ask(entrants, team, with_images=has_images(version))
        is_paid = any(model.is_paid for model in models.values())
        if is_paid:
            check_budget(budget, entrants, version.parameters)
        run = Run.objects.create(
            version=version, owner=owner, team=team, name=name, repeats=repeats, concurrency=concurrency,
            attempts=attempts, budget=budget, is_paid=is_paid, starts_at_once=starts_at_once, reuse_days=reuse_days,
            order_seed=secrets.randbits(32), entrant_count=len(entrants),
        )  # fmt: skip
        _create_entrants(run, entrants)
        wake_after_commit(run)
    return run


def check_budget(budget: Decimal | None, entrants: Sequence[EntrantRequest], parameters: JsonObject) -> None:
    """Raises RunNotPossible without a budget, and for one below what a call reserves."""
    if budget is None:
        raise RunNotPossible(_("A run of paid models needs a budget."))
    for entrant in entrants:
        if (price := entrant.model.price) is not None:
            cap = answer_cap(entrant.model, parameters | entrant.parameters)
            least = price.cost_of(prompt_tokens=1, completion_tokens=cap)
            if budget < least:
                sentence = _("The budget is below %(cost)s dollars, which one call of %(name)s may cost.")
                values = {"name": entrant.model.name, "cost": plain_decimal(least)}
                raise RunNotPossible(fields={"budget": [sentence % values]})


def require_room_for_run(owner: User) -> None:
    """Lock the member and check the limits of live runs. In a transaction. Raises TooManyRuns."""
    User.objects.select_for_update(no_key=True).get(pk=owner.pk)  # counts this member's runs exactly
    if Run.objects.live().filter(owner=owner).count() >= settings.ARENA_RUNS["member"]:
        raise TooManyRuns
    if Run.objects.live().count() >= settings.ARENA_RUNS["site"]:
        raise TooManyRuns(_("The arena has as many runs under way as it allows. Try again later."))


def require_active(team: Team) -> None:
    """Lock the team until COMMIT, so that it cannot be archived meanwhile. Raises NotInTeam."""
    if not Team.objects.active().select_for_update(no_key=True).filter(pk=team.pk).exists():
        raise NotInTeam


def _check_numbers(entrants: int, repeats: int, concurrency: int, attempts: int, reuse_days: int | None) -> None:
    problems = {
        name: [_("Choose a number from 1 to %(most)s.") % {"most": maximum}]
        for name, value, maximum in (
            ("entrants", entrants, Run.MAX_ENTRANTS),
            ("repeats", repeats, Run.MAX_REPEATS),
            ("concurrency", concurrency, Run.MAX_CONCURRENCY),
            ("attempts", attempts, Run.MAX_ATTEMPTS),
            ("reuse_days", reuse_days, Run.MAX_REUSE_DAYS),
        )
        if value is not None and not 1 <= value <= maximum
    }
    if problems:
        raise InvalidInput(fields=problems)


def has_images(version: TemplateVersion) -> bool:
    return CaseFile.objects.filter(case__version=version, upload__kind=Upload.Kind.IMAGE).exists()


def models_to_ask(
    entrants: Sequence[EntrantRequest], team: Team | None, *, with_images: bool
) -> dict[int, LanguageModel]:
    """Return the models with providers and prices, by id. Raises RunNotPossible with each that cannot be asked."""
    in_place = LanguageModel.objects.in_place(None if team is None else team.pk)
    queryset = in_place.select_related("provider").prefetch_related("prices")
    models = {model.pk: model for model in queryset.filter(pk__in=[entrant.model.pk for entrant in entrants])}
    missing = {entrant.model.slug for entrant in entrants if entrant.model.pk not in models}
    problems = {slug: [_("There is no model “%(id)s”.") % {"id": slug}] for slug in missing}
    for model in models.values():
        if model.status != LanguageModel.Status.ACTIVE:
            problems[model.slug] = [_("%(name)s is not active.") % {"name": model.name}]
        elif reason := model.provider.setup_problem:
            problems[model.slug] = [reason]
        elif with_images and not model.sees_images:
            problems[model.slug] = [_("%(name)s does not read images.") % {"name": model.name}]
    if problems:
        raise RunNotPossible(fields=problems)
    return models


def _create_entrants(run: Run, entrants: Sequence[EntrantRequest]) -> None:
    prompts = list(run.version.prompts.order_by("position"))
    rows, seen = [], set()
    for position, entrant in enumerate(entrants):
        prompt = entrant.prompt or prompts[0]
        parameters = run.version.parameters | entrant.parameters
        digest = hashlib.sha256(msgspec.json.encode(parameters, order="deterministic")).hexdigest()
        key = (entrant.model.pk, prompt.pk, digest)
        if prompt not in prompts or key in seen:
            raise InvalidInput(_("Each entrant takes part once, with a prompt of the template."))
        seen.add(key)
        rows.append(
            Entrant(
                run=run, position=position, model=entrant.model, prompt=prompt, parameters=parameters,
                parameters_digest=digest, label=entrant.label, is_baseline=entrant.is_baseline,
            )
        )  # fmt: skip
    Entrant.objects.bulk_create(rows)


def start_run(run: Run) -> Run:
    """Let a prepared run begin. Raises WrongState."""
    return _move(run, {Run.State.QUEUED}, Run.State.RUNNING)


def pause_run(run: Run) -> Run:
    """Claim nothing more; running calls end and are stored. Raises WrongState."""
    return _move(run, {Run.State.RUNNING}, Run.State.PAUSED, reason=Run.Reason.OWNER)


def pause_runs(runs: QuerySet[Run], *, by: User) -> int:
    """Pause the running ones for the administrators; return their number."""
    paused = 0
    for run in runs.filter(state=Run.State.RUNNING).order_by("pk"):
        with suppress(WrongState), transaction.atomic():
            _move(run, {Run.State.RUNNING}, Run.State.PAUSED, reason=Run.Reason.STAFF)
            audit.record(by, "pause run", run.public_id)
            paused += 1
    return paused


def resume_run(run: Run) -> Run:
    """Let a paused run go on. Raises WrongState."""
    return _move(run, {Run.State.PAUSED}, Run.State.RUNNING)


def resume_team_runs(team: Team) -> None:
    """Let those go on that wait for a team's budget or a member's quota, which may have been raised."""
    for run in Run.objects.filter(team=team, state=Run.State.PAUSED, reason__in=Run.OF_TEAM).order_by("pk"):
        with suppress(WrongState):
            resume_run(run)


def _move(run: Run, before: set[Run.State], after: Run.State, *, reason: str = "") -> Run:
    with transaction.atomic():
        run = Run.objects.lock(run.pk)
        if run.state not in before:
            raise WrongState
        run.state, run.reason, run.day_wait_until, run.driven_until = after, reason, None, None
        run.save(update_fields=["state", "reason", "day_wait_until", "driven_until"])
        if after == Run.State.RUNNING:
            let_go_on(run.pk)
            wake_after_commit(run)
    return run


@transaction.atomic
def cancel_run(run: Run) -> Run:
    """End a run: workers stop its calls within a second, and nothing more is asked. Raises WrongState."""
    run = Run.objects.lock(run.pk)
    if run.state in Run.ENDED:
        raise WrongState
    run.state, run.reason, run.finished_at = Run.State.CANCELLED, Run.Reason.OWNER, Now()
    run.save(update_fields=["state", "reason", "finished_at"])
    queued = RunItem.objects.filter(run=run, state=RunItem.State.QUEUED)
    queued.update(state=RunItem.State.SKIPPED, finished_at=Now())
    return run


@transaction.atomic
def retry_failed(run: Run) -> Run:
    """Ask again what failed or was skipped, in the same run. Raises WrongState and RunNotPossible."""
    run = Run.objects.lock(run.pk)
    if run.state not in (Run.State.DONE, Run.State.CANCELLED, Run.State.PAUSED):
        raise WrongState
    require_usable_files(run.version)
    again = RunItem.objects.filter(run=run, state__in=[RunItem.State.FAILED, RunItem.State.SKIPPED])
    again = again.exclude(error="prompt_too_long", attempt=0)  # known before the first call
    again = again.exclude(entrant__model=None).filter(entrant__left_out_at=None)  # imported, left out
    if run.is_judging and again.exists():
        # Another judging of the same judge may be taking these questions over.
        Judge.objects.select_for_update(no_key=True, of=("self",)).get(judgings__run=run)
        again = again.exclude(judgement=None)
        if not again.exists():
            raise WrongState(_("Nothing is left to ask: another judging has asked it again, or it was deleted."))
    if not again.update(state=RunItem.State.QUEUED, error="", attempt=0, due_at=Now(), finished_at=None):
        raise WrongState(_("Nothing failed."))
    run.state, run.reason, run.finished_at, run.driven_until = Run.State.RUNNING, "", None, None
    run.save(update_fields=["state", "reason", "finished_at", "driven_until"])
    let_go_on(run.pk)
    wake_after_commit(run)
    return run


def raise_budget(run: Run, *, to: Decimal) -> Run:
    """Set a higher budget, US dollars. Raises RunNotPossible for less than is spent, or reserved for calls."""
    changed = Run.objects.filter(pk=run.pk, budget__isnull=False, budget__lte=to)
    if not changed.filter(reserved__lte=to - F("spent")).update(budget=to):
        raise RunNotPossible(_("A budget can only be raised."))
    run.refresh_from_db()
    return run


def rename_run(run: Run, name: str) -> None:
    run.name = name
    run.save(update_fields=["name"])
