from collections.abc import Iterable, Sequence
from dataclasses import replace

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from accounts.actor import Actor
from accounts.teams.places import require_place_id
from battles.errors import (
    AlreadyRegenerated,
    AlreadyVoted,
    BattleIsHidden,
    BattleIsVoid,
    ImagesNotSeen,
    InAReview,
    NothingToRegenerate,
    NothingToStop,
    StillAnswering,
    TooManyTurns,
)
from battles.models import Answer, Battle, Session, Side, Turn, Vote
from battles.moderation.examination import check_prompt, store_findings
from battles.prompting import budget
from battles.prompting.attachments import attach, attachment_error, get_attachable_uploads, get_model_requirements
from battles.prompting.blind_quotes import BlindQuote, quote_turn
from battles.prompting.lineup import ModelRequirements
from battles.prompting.prompt import clean_prompt
from battles.streaming.cancel import publish_cancel
from battles.streaming.control import publish_end
from battles.tasks import wake_after_commit
from battles.worker import answer_states
from battles.worker.turn_store import end_at_once
from common import tracing
from common.valkey import limits
from models_registry import model_limits
from models_registry.models import Charge
from models_registry.payers import Payer


def follow_up(*, actor: Actor, battle: Battle, prompt: str, attachments: Sequence[str] = ()) -> Turn:
    """Each side keeps its own history. Turns after the vote do not count.

    attachments: public ids of uploads. Raises InvalidInput, NotReadYet, CannotBeRead, ImagesNotSeen, StillAnswering,
    BattleIsVoid, BattleIsHidden, TooManyTurns, TooManyRequests, ServiceAway, PromptRefused, NotExamined,
    BudgetReached, ModelsOverBudget, NotInTeam, InAReview.
    """
    if battle.is_review:
        raise InAReview
    session = battle.session
    require_place_id(actor, session.team_id)
    prompt = clean_prompt(prompt)
    uploads = get_attachable_uploads(actor, attachments)
    # Count before moderation, so that each attempt counts; moderation may call an endpoint, so no row is locked yet.
    actor.count("turn", fail_open=actor.user is not None, extra_counters=_limits_of_chosen_models(battle))
    findings = check_prompt(actor=actor, prompt=prompt, uploads=uploads, battle=battle, team_id=session.team_id)
    with transaction.atomic():
        battle = Battle.objects.select_for_update().get(pk=battle.pk)  # one follow-up at a time
        last = battle.turns.order_by("-index")[0]
        refuse_unless_open(battle, last)
        if last.index + 1 >= settings.ARENA_TURNS_PER_BATTLE:
            raise TooManyTurns
        sides = _sides_of(battle)
        if uploads:
            _check_attachments_fit(battle, sides, get_model_requirements(prompt, uploads))
        has_vote = Vote.objects.filter(battle=battle).exists()
        turn = Turn.objects.create(
            battle=battle, index=last.index + 1, prompt=prompt, after_vote=has_vote,
            trace=tracing.current_traceparent(),
        )  # fmt: skip
        attach(turn, uploads)
        store_findings(findings, turn)
        create_answers(battle, turn, sides, Payer.of(actor, session.team_id))
        Session.objects.filter(pk=battle.session_id).update(last_active_at=Now())
    return turn


def _limits_of_chosen_models(battle: Battle) -> list[limits.Counter]:
    if not model_limits.in_force():
        return []
    # The model of a direct chat is known, also if auto mode chose it.
    sides = battle.sides.all() if battle.mode == Battle.Mode.DIRECT else battle.sides.filter(chosen=True)
    return model_limits.counters(side.model for side in sides.select_related("model"))


def refuse_unless_open(battle: Battle, last_turn: Turn) -> None:
    if battle.is_void:
        raise BattleIsVoid
    if battle.is_hidden:
        raise BattleIsHidden
    if last_turn.is_live:
        raise StillAnswering


def _check_attachments_fit(battle: Battle, sides: Iterable[Side], requirements: ModelRequirements) -> None:
    """Raise ImagesNotSeen or InvalidInput if a side's model cannot read the attachments."""
    # The models' own abilities would help to identify them in a blind battle, so the battle's requirement decides.
    accepts_images = battle.needs_images if battle.is_blind else all(side.model.sees_images for side in sides)
    if requirements.images and not accepts_images:
        raise ImagesNotSeen
    if not all(replace(requirements, images=False).are_met_by(side.model) for side in sides):
        raise attachment_error(
            _("These files are too long for the models of this battle. Attach fewer or shorter files.")
        )


def create_answers(battle: Battle, turn: Turn, sides: Iterable[Side], payer: Payer) -> list[Answer]:
    """Reserve money, create a follow-up's answers in order, and wake a worker on commit.

    Raises BudgetReached and ModelsOverBudget.
    """
    sides = list(sides)
    charges, quote = _reserve(battle, turn, sides, payer)
    wake_after_commit(turn.pk)
    answers = [Answer(turn=turn, side=side, charge=charges.get(side.position)) for side in sides]
    Answer.objects.bulk_create(answers)
    if quote is not None:
        quote.store(answers, payer)
    return answers


def _reserve(
    battle: Battle, turn: Turn, sides: Sequence[Side], payer: Payer
) -> tuple[dict[str, Charge], BlindQuote | None]:
    """Reserve money for these sides of the battle's last turn."""
    turns = _turns_of(battle)
    quote = quote_turn(battle, turns, sides) if battle.is_blind and not turn.after_vote else None
    return budget.reserve_for_sides(turns, sides, payer=payer, quote=quote), quote


def _turns_of(battle: Battle) -> QuerySet[Turn]:
    return Turn.objects.with_attachments().filter(battle=battle).order_by("index").prefetch_related("answers")


def _sides_of(battle: Battle) -> QuerySet[Side]:
    return battle.sides.select_related("model__provider").prefetch_related("model__prices")


@transaction.atomic
def regenerate(*, actor: Actor, battle: Battle) -> Turn:
    """Retry the failed sides of the last follow-up, once; other sides keep their answers.

    Raises BattleIsVoid, BattleIsHidden, StillAnswering, NothingToRegenerate, AlreadyRegenerated, TooManyRequests,
    ServiceAway, BudgetReached, ModelsOverBudget, and AlreadyVoted if the vote covers the earlier turns. Raises
    NotInTeam for the session of a team that the actor has left.
    """
    team_id = battle.session.team_id
    require_place_id(actor, team_id)
    battle = Battle.objects.select_for_update().get(pk=battle.pk)
    turn = battle.turns.order_by("-index").prefetch_related("answers")[0]
    refuse_unless_open(battle, turn)
    if not turn.is_failed_follow_up:
        raise NothingToRegenerate
    if turn.regenerated:
        raise AlreadyRegenerated
    if not turn.after_vote and Vote.objects.filter(battle=battle).exists():
        raise AlreadyVoted
    actor.count("turn", fail_open=actor.user is not None)
    failed = {answer.side_id: answer for answer in turn.answers.all() if answer.state == Answer.State.FAILED}
    sides = list(_sides_of(battle).filter(pk__in=failed))
    payer = Payer.of(actor, team_id)
    charges, quote = _reserve(battle, turn, sides, payer)
    if quote is not None:
        quote.store([failed[side.pk] for side in sides], payer)
    answer_states.delete([turn])
    for side in sides:
        charge = charges.get(side.position)
        turn.answers.filter(side=side).update(
            state=Answer.State.QUEUED, text="", html="", reasoning="", error="", call=None, charge=charge
        )
    turn.state, turn.regenerated, turn.attempt = Turn.State.QUEUED, True, 0
    turn.queued_at, turn.finished_at, turn.trace = Now(), None, tracing.current_traceparent()
    turn.save(update_fields=["state", "regenerated", "attempt", "queued_at", "finished_at", "trace"])
    wake_after_commit(turn.pk)
    return turn


@transaction.atomic
def stop(*, battle: Battle) -> None:
    """Keep partial answers; a queued turn ends immediately.

    Raises NothingToStop.
    """
    turn = battle.turns.exclude(state=Turn.State.DONE).select_for_update(of=["self"]).first()
    if turn is None:
        raise NothingToStop
    if turn.state == Turn.State.QUEUED:
        end_at_once(turn)
        transaction.on_commit(lambda: publish_end(turn))
    else:
        Turn.objects.filter(pk=turn.pk, stop_requested_at=None).update(stop_requested_at=Now())
        transaction.on_commit(lambda: publish_cancel(turn))
