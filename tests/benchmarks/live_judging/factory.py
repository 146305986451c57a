"""A judge of voted battles, and battles to read."""

from decimal import Decimal

import pgtrigger
from django.db import connection

from accounts.actor import Actor
from accounts.models import Team, User
from battles import actions
from battles.calls import CallResult
from battles.models import Answer, Battle, Vote
from benchmarks.live_judging.asking import Claimed, claim, store
from benchmarks.live_judging.drawing import draw_votes
from benchmarks.models import LiveDraw, LiveJudge, LiveJudgement
from models_registry.models import LanguageModel
from models_registry.providers.base import Completion
from tests import make
from tests.worlds.benchmarks import judged_runs
from tests.worlds.judges import JUDGES


def live_judge(model: LanguageModel, *, owner: User | None = None, **fields: object) -> LiveJudge:
    judge = judged_runs.judge(model, owner or make.user())
    return LiveJudge.objects.create(judge=judge, **{"is_on": True, "share": Decimal(100), **fields})


def voted(
    left: LanguageModel,
    right: LanguageModel,
    choice: str = Vote.Choice.LEFT,
    *,
    actor: Actor | None = None,
    place: Team | None = None,
    left_quality: int = 4,
) -> Battle:
    """Return a voted battle whose right answer has quality 3."""
    actor = actor or make.visitor()
    battle = make.answered_battle(left, right, actor=actor, place=place)
    for answer in Answer.objects.filter(turn__battle=battle).select_related("side__model"):
        quality = left_quality if answer.side.position == "left" else 3
        Answer.objects.filter(pk=answer.pk).update(
            text=f"It has quality {quality}. That is the end.", call=make.stored_call(answer.side.model)
        )
    actions.cast_vote(actor=actor, battle=battle, choice=Vote.Choice(choice))
    if connection.in_atomic_block:
        with connection.cursor() as cursor:
            cursor.execute(f"SET CONSTRAINTS {_numbering()} IMMEDIATE")
    return Battle.objects.get(pk=battle.pk)


def _numbering() -> str:
    """Return the trigger that numbers votes, at COMMIT."""
    return next(
        str(trigger.get_pgid(model))
        for model, trigger in pgtrigger.registered()
        if trigger.name == "a_vote_is_numbered_at_commit"
    )


def answered(
    claimed: Claimed, text: str = "", *, rule: str = "judge-fair", finish_reason: str = "stop"
) -> LiveJudgement:  # fmt: skip
    """Store the answer of a judge of tests.worlds.judges, or this text."""
    text = text or JUDGES[rule](claimed.call.request.messages)
    store(claimed, CallResult(texts=[text], completion=Completion(finish_reason=finish_reason), first_token_ms=1))
    return LiveJudgement.objects.get(pk=claimed.judgement_id)


def claimed() -> Claimed:
    found = claim()
    assert found is not None
    return found


def judge_all(rule: str = "judge-fair") -> int:
    """Draw, and answer all questions; return their number."""
    draw_votes()
    number = 0
    while (found := claim()) is not None:
        answered(found, rule=rule)
        number += 1
    return number


def left_out() -> list[str]:
    return list(LiveDraw.objects.order_by("pk").values_list("left_out", flat=True))
