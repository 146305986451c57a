"""Circumstances of a vote beside the answers' texts."""

from statistics import fmean
from typing import TypedDict

from battles.models import Answer, Battle, Position, Side, Turn


class SideContext(TypedDict):
    """met: whether an earlier battle of the session revealed the model; reasoning: whether any was shown before the
    vote; first_token_ms: mean over the judged answers, None if one is unknown.
    """

    met: bool
    reasoning: bool
    first_token_ms: int | None


class VoteContext(TypedDict):
    """files: number attached to the judged prompts."""

    files: int
    left: SideContext
    right: SideContext


def vote_context(battle: Battle, judged: list[Turn]) -> VoteContext:
    """battle: from lock_battle_for_vote."""
    sides = {side.position: side for side in battle.sides.all()}
    return {
        "files": sum(len(turn.attached) for turn in judged),
        "left": _side_context(battle, sides[Position.LEFT], judged),
        "right": _side_context(battle, sides[Position.RIGHT], judged),
    }


def _side_context(battle: Battle, side: Side, judged: list[Turn]) -> SideContext:
    answers, met = answers_of(side, judged), vars(battle)["met_models"]
    return {
        "met": side.model_id in met,
        "reasoning": _shows_reasoning(battle, answers),
        "first_token_ms": _mean_first_token_ms(answers),
    }


def answers_of(side: Side, turns: list[Turn]) -> list[Answer]:
    return [answer for turn in turns for answer in turn.answers.all() if answer.side_id == side.pk]


def _shows_reasoning(battle: Battle, answers: list[Answer]) -> bool:
    # A blind battle hides it until the vote.
    return not battle.is_blind and any(answer.reasoning for answer in answers)


def _mean_first_token_ms(answers: list[Answer]) -> int | None:
    waits = [answer.call.first_token_ms if answer.call else None for answer in answers]
    known = [wait for wait in waits if wait is not None]
    return round(fmean(known)) if known and len(known) == len(waits) else None
