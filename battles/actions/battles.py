from collections.abc import Callable, Sequence
from random import SystemRandom
from typing import NamedTuple, cast

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from accounts.actor import Actor
from accounts.models import Team
from accounts.teams.places import require_place_id
from battles.actions.battle_rows import insert_battle
from battles.auto.matchup import AutoDecision, decide
from battles.auto.store import store_decision
from battles.errors import ARENA_OVER_BUDGET, ModelsOverBudget, ProofRequired, TooFewModels
from battles.labels.labelling import label
from battles.models import Answer, Attachment, Battle, Session, Turn
from battles.moderation.examination import check_prompt, store_findings
from battles.moderation.findings import Finding
from battles.prompting import attachments, budget, consent, proof_of_work
from battles.prompting.blind_quotes import BlindQuote, quote_battle
from battles.prompting.lineup import BattleRequest, MatchupPlan, ModelRequirements
from battles.prompting.messages import turn_content
from battles.prompting.prompt import clean_prompt, title_from_prompt
from battles.tasks import wake_after_commit
from common import tracing
from common.errors import InvalidInput
from common.tracing import Attribute, Span, SpanName
from common.valkey import limits
from models_registry import drawable_cache, model_limits
from models_registry.models import LanguageModel
from models_registry.models.ledger import seconds_until_tomorrow
from models_registry.payers import Payer
from models_registry.spending import OverBudget
from site_content.terms import require_accepted
from uploads.models import Upload

CHOSEN_OVER_BUDGET = _(
    "The models of this battle have reached their budget for today. Choose others, or come back after midnight UTC."
)
_random = SystemRandom()
BLIND_BATTLE = BattleRequest()


def start_session(
    *,
    actor: Actor,
    prompt: str,
    battle_request: BattleRequest = BLIND_BATTLE,
    proof: str = "",
    place: Team | None = None,
) -> Battle:
    """Return the first battle with related rows set. place: a team of the actor's. Raises as start_battle."""
    with tracing.span(SpanName.START_BATTLE, person=actor.key) as span:
        checked = _check_request(actor, prompt, battle_request, proof, None if place is None else place.pk)
        title = title_from_prompt(checked.prompt)
        session = Session(owner_user=actor.user, owner_visitor=actor.visitor, team=place, title=title)
        return _described(span, _create_with_affordable_models(actor, session, checked))


def start_battle(
    *, actor: Actor, session: Session, prompt: str, battle_request: BattleRequest = BLIND_BATTLE, proof: str = ""
) -> Battle:
    """Wake a worker on commit and return the battle with related rows set.

    proof: see proof_of_work.require_proof.
    Raises InvalidInput, TermsNotAccepted, NotReadyYet, CannotBeRead, TooManyRequests, ProofRequired, PromptRefused,
    NotExamined, BudgetReached, ModelsOverBudget, TooFewModels, NoModelFits, NoModelAvailable, and for visitors
    ServiceAway if limits cannot be counted. Raises NotInTeam for the session of a team that the actor has left.
    """
    with tracing.span(SpanName.START_BATTLE, person=actor.key) as span:
        require_place_id(actor, session.team_id)
        checked = _check_request(actor, prompt, battle_request, proof, session.team_id)
        return _described(span, _create_with_affordable_models(actor, session, checked))


def _described(span: Span, battle: Battle) -> Battle:
    span.set({Attribute.MODE: battle.mode, Attribute.ORIGIN: battle.origin})
    return battle


class CheckedRequest(NamedTuple):
    prompt: str
    plan: MatchupPlan
    uploads: Sequence[Upload]
    findings: Sequence[Finding]
    consent: str  # the version agreed to, or ""
    auto: AutoDecision | None = None
    # The quote covers the models before the draw: which of them cannot be paid for would reveal something of the pair.
    quote: BlindQuote | None = None

    def without(self, is_excluded: Callable[[LanguageModel], bool]) -> "CheckedRequest | None":
        """Return the request without excluded models, or None if too few are left."""
        if self.auto is not None:
            auto = self.auto.without(is_excluded)
            return None if auto is None else self._replace(plan=auto.plan, auto=auto)
        if any(is_excluded(model) for model in self.plan.chosen):
            return None
        try:
            return self._replace(plan=self.plan.without(is_excluded))
        except (InvalidInput, TooFewModels):
            return None


def _check_request(
    actor: Actor, prompt: str, battle_request: BattleRequest, proof: str, team_id: int | None
) -> CheckedRequest:
    """Raise errors that come before the draw; store only verdicts on refused prompts. team_id: the place's models."""
    prompt = clean_prompt(prompt)
    require_accepted(actor)
    uploads = attachments.get_attachable_uploads(actor, battle_request.attachments)
    requirements = attachments.get_model_requirements(prompt, uploads)
    if battle_request.auto is None:
        plan, auto = _plan_matchup(battle_request, requirements, team_id), None
        _count(actor, plan)
    else:
        decision = decide(actor, prompt, battle_request, battle_request.auto, requirements, uploads, team_id=team_id)
        auto = _count_decision(actor, decision)
        plan = auto.plan
    try:
        proof_of_work.require_proof(actor, proof)
    except ProofRequired:
        of_models = model_limits.counters(plan.chosen)
        # The browser repeats the request with a proof.
        limits.uncount("battle", actor.limit_keys, extra_counters=of_models)
        raise
    quote = _quote(battle_request, plan, prompt, uploads, team_id) if plan.mode == Battle.Mode.BLIND else None
    if quote is not None:
        budget.check_affordable(Payer.of(actor, team_id), quote)
    findings = check_prompt(actor=actor, prompt=prompt, uploads=uploads, team_id=team_id)
    agreed = consent.version() if battle_request.consent else ""
    return CheckedRequest(prompt, plan, uploads, findings, agreed, auto, quote)


def _quote(
    battle_request: BattleRequest, plan: MatchupPlan, prompt: str, uploads: Sequence[Upload], team_id: int | None
) -> BlindQuote | None:
    models = plan.candidates
    if plan.is_routed:  # its candidates are those that auto mode prefers, thus they are hidden
        named = set(battle_request.models)
        models = [
            model
            for model in drawable_cache.roster_of(team_id).payable
            if plan.requirements.are_met_by(model) and (not named or not named.isdisjoint(model.slugs))
        ]
    content = turn_content(attachments.unsaved_turn(prompt, uploads), attachments.attachment_contents(uploads))
    return quote_battle(models, [{"role": "user", "content": content}], team_id=team_id)


def _count(actor: Actor, plan: MatchupPlan) -> None:
    actor.count("battle", fail_open=actor.user is not None, extra_counters=model_limits.counters(plan.chosen))


def _count_decision(actor: Actor, auto: AutoDecision) -> AutoDecision:
    """Count the battle; a model that has reached its limit makes way for the next one. Raises LimitReached."""
    try:
        _count(actor, auto.plan)
    except limits.LimitReached as refusal:
        of_model = bool(refusal.usages) and refusal.usages[0].counter.who == limits.MODEL
        remaining = auto.without(lambda model: model in auto.routed.models) if of_model else None
        if remaining is None:
            raise
        return _count_decision(actor, remaining)
    return auto


def _plan_matchup(battle_request: BattleRequest, requirements: ModelRequirements, team_id: int | None) -> MatchupPlan:
    """Raise as MatchupPlan.from_request, or ModelsOverBudget if only spent budgets prevent the matchup."""
    roster = drawable_cache.roster_of(team_id)
    plan = MatchupPlan.from_request(battle_request, roster, requirements)
    payable = {model.pk for model in roster.payable}
    try:
        plan.without(lambda model: model.pk not in payable)
    except (InvalidInput, TooFewModels) as refusal:
        raise _models_over_budget(battle_request.models) from refusal
    return plan


def _models_over_budget(chosen: Sequence[object]) -> ModelsOverBudget:
    return ModelsOverBudget(CHOSEN_OVER_BUDGET if chosen else ARENA_OVER_BUDGET, retry_after=seconds_until_tomorrow())


def _create_with_affordable_models(actor: Actor, session: Session, checked: CheckedRequest) -> Battle:
    """Draw or decide again without models whose budget is spent."""
    while True:
        try:
            return _create_battle(actor, session, checked)
        except ModelsOverBudget as refusal:
            over_budget = cast(OverBudget, refusal.reservation_error)
            remaining = checked.without(over_budget.concerns)
            if remaining is None or remaining is checked:
                raise _models_over_budget(checked.plan.chosen) from refusal
            checked = remaining


@transaction.atomic
def _create_battle(actor: Actor, session: Session, checked: CheckedRequest) -> Battle:
    """session: saved, or to be inserted with the battle. Raises BudgetReached, ModelsOverBudget, TooFewModels."""
    prompt, plan, uploads, findings, consent_version, auto, quote = checked
    if plan.mode != Battle.Mode.BLIND:
        quote = None  # auto mode fell back to a chat
    sides, propensity = plan.draw_matchup(_random)
    origin = Battle.Origin.DRAW if auto is None else Battle.Origin.ROUTER
    battle = Battle(
        session=session, mode=plan.mode, origin=origin, filters=plan.filters.as_json, propensity=propensity,
        needs_images=plan.needs_images, consent=consent_version if session.team_id is None else "",
        **label([prompt], files=[Attachment.facts(upload) for upload in uploads]),
    )  # fmt: skip
    unsaved = attachments.unsaved_turn(prompt, uploads)
    contents = attachments.attachment_contents(uploads)
    payer = Payer.of(actor, session.team_id)
    charges = budget.reserve_for_sides([unsaved], sides, payer=payer, quote=quote, contents=contents)
    turn = Turn(battle=battle, index=0, prompt=prompt, trace=tracing.current_traceparent())
    answers = [Answer(turn=turn, side=side, charge=charges.get(side.position)) for side in sides]
    insert_battle(battle, answers)
    if quote is not None:
        quote.store(answers, payer)
    attachments.attach(turn, uploads)
    store_findings(findings, turn)
    decision = None
    if auto is not None:
        decision = store_decision(actor=actor, request=auto.request, routed=auto.routed, session=session, battle=battle)
    wake_after_commit(turn.pk)
    battle.set_related(sides=sides, turns=[turn], answers=answers, decision=decision)
    return battle
