"""New sessions and battles: who meets whom, and who pays."""

from collections.abc import Sequence
from random import SystemRandom
from typing import NamedTuple

from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from accounts.actor import Actor
from battles.actions.turns import ask
from battles.errors import BudgetReached, ModelsOverBudget, ProofRequired, TooFewModels
from battles.labels.labelling import label
from battles.models import Attachment, Battle, Session, Side, Turn
from battles.moderation.examination import check_prompt, store_findings
from battles.moderation.findings import Finding
from battles.prompting import attachments, budget, consent, proof_of_work
from battles.prompting.lineup import Contest, Needs, Wish
from battles.prompting.prompt import accepted_prompt, title_of
from common.errors import InvalidInput
from common.valkey import limits
from models_registry import drawable_cache
from models_registry.models.ledger import seconds_until_tomorrow
from models_registry.spending import OverBudget
from uploads.models import Upload

CHOSEN_OVER_BUDGET = _(
    "The models of this battle have reached their budget for today. Choose others, or come back after midnight UTC."
)
DRAWN_OVER_BUDGET = _("The arena has reached its budget for today. It resets at midnight UTC.")
_random = SystemRandom()
BLIND = Wish()


def start_session(*, actor: Actor, prompt: str, wish: Wish = BLIND, proof: str = "") -> Battle:
    """A new session with its first battle, which can be shown at once. Raises as start_battle does."""
    prompt = accepted_prompt(prompt)
    admitted = _admit(actor, prompt, wish, proof)
    with transaction.atomic():
        session = Session.objects.create(
            owner_user=actor.user, owner_visitor=actor.visitor, title=title_of(prompt)
        )  # a refusal below takes the session back
        return _open(actor, session, prompt, admitted)


def start_battle(*, actor: Actor, session: Session, prompt: str, wish: Wish = BLIND, proof: str = "") -> Battle:
    """Bring the models for a prompt together and wake a worker. The battle can be shown at once.

    proof: of work, as proof_of_work.demand takes it.
    Raises InvalidInput, NotReadYet, CannotBeRead, TooManyRequests, ProofRequired, PromptRefused, NotExamined,
    BudgetReached, ModelsOverBudget, TooFewModels, and ServiceAway for visitors while limits cannot be counted.
    """
    prompt = accepted_prompt(prompt)
    admitted = _admit(actor, prompt, wish, proof)
    with transaction.atomic():
        battle = _open(actor, session, prompt, admitted)
        Session.objects.filter(pk=session.pk).update(last_active_at=Now())
    return battle


class Admitted(NamedTuple):
    """What a battle may begin with, and what moderation has to say about it."""

    contest: Contest
    uploads: Sequence[Upload]
    findings: Sequence[Finding]
    # As Battle has it.
    consent: str


def _admit(actor: Actor, prompt: str, wish: Wish, proof: str) -> Admitted:
    """Stores nothing but what was refused. Raises whatever start_battle does before models are brought together."""
    uploads = attachments.chosen_uploads(actor, wish.attachments)
    contest = _contest(wish, attachments.needs_of(prompt, uploads))
    limits.count("battle", actor.limit_keys, fail_open=actor.user is not None)
    try:
        proof_of_work.demand(actor, proof)
    except ProofRequired:
        limits.uncount("battle", actor.limit_keys)  # the same battle is asked for again, with a proof
        raise
    if not contest.chosen:
        budget.check_allowance(actor, contest.candidates, prompt, uploads)
    findings = check_prompt(actor=actor, prompt=prompt, uploads=uploads)
    return Admitted(contest, uploads, findings, consent.version() if wish.consent else "")


def _contest(wish: Wish, needs: Needs) -> Contest:
    """Raises as Contest.of does, and ModelsOverBudget where only spent budgets prevent the contest."""
    known = drawable_cache.read()
    try:
        return Contest.of(wish, known, needs)
    except (InvalidInput, TooFewModels) as refusal:
        if _is_possible(wish, known._replace(payable=known.choosable), needs):
            raise _models_over_budget(wish.models) from refusal
        raise


def _is_possible(wish: Wish, known: drawable_cache.Roster, needs: Needs) -> bool:
    try:
        Contest.of(wish, known, needs)
    except (InvalidInput, TooFewModels):
        return False
    return True


def _models_over_budget(chosen: Sequence[object]) -> ModelsOverBudget:
    return ModelsOverBudget(CHOSEN_OVER_BUDGET if chosen else DRAWN_OVER_BUDGET, retry_after=seconds_until_tomorrow())


def _open(actor: Actor, session: Session, prompt: str, admitted: Admitted) -> Battle:
    contest = admitted.contest
    while True:
        try:
            return _open_battle(actor, session, prompt, admitted._replace(contest=contest))
        except OverBudget as error:
            if error.is_personal:
                raise BudgetReached(retry_after=seconds_until_tomorrow()) from error
            if any(error.concerns(model) for model in contest.chosen):
                raise _models_over_budget(contest.chosen) from error
            try:
                contest = contest.without(error.concerns)
            except (InvalidInput, TooFewModels):
                raise _models_over_budget(contest.chosen) from error


@transaction.atomic
def _open_battle(actor: Actor, session: Session, prompt: str, admitted: Admitted) -> Battle:
    """Raises OverBudget, TooFewModels."""
    contest, uploads, findings, agreed = admitted
    lineup = contest.line_up(_random)
    battle = Battle.objects.create(
        session=session, mode=contest.mode, filters=contest.filters.as_json, propensity=lineup.propensity,
        needs_images=contest.needs_images, consent=agreed,
        **label([prompt], files=[Attachment.facts(upload) for upload in uploads]),
    )  # fmt: skip
    sides = Side.objects.bulk_create(
        [Side(battle=battle, position=seat.position, model=seat.model, chosen=seat.chosen) for seat in lineup.seats]
    )
    turn = Turn.objects.create(battle=battle, index=0, prompt=prompt)
    attachments.attach(turn, uploads)
    store_findings(findings, turn)
    answers = ask(turn, [turn], sides, person=actor.key)
    battle.set_related(sides=sides, turns=[turn], answers=answers)
    return battle
