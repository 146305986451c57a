"""`python -m tools.screenshots.generated_battles 500`: add battles of two weeks to a running arena.

Prompts and answers are copied from played battles; the rest is made up. The last printed line is JSON with the newest
row of each admin table: {"battles_vote": id, …}.
"""

import json
import math
import os
import sys
from datetime import datetime, timedelta
from random import Random
from unittest.mock import patch

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arena_site.settings.local")
django.setup()

from django.contrib import admin  # noqa: E402
from django.db import connection, transaction  # noqa: E402
from django.utils import timezone  # noqa: E402

from accounts.actor import Actor  # noqa: E402
from accounts.models import User, Visitor  # noqa: E402
from battles import actions  # noqa: E402
from battles.models import (  # noqa: E402
    Action,
    Answer,
    Battle,
    Call,
    ModerationCase,
    ModerationRule,
    Position,
    Session,
    Side,
    StarRating,
    Turn,
    Vote,
)  # fmt: skip
from battles.moderation.examination import store_findings  # noqa: E402
from battles.moderation.findings import Finding  # noqa: E402
from leaderboard.aggregation import anomalies, job  # noqa: E402
from leaderboard.counting import schedule  # noqa: E402
from leaderboard.models import AggregationRun  # noqa: E402

chance = Random(7)
DAYS, VISITORS, COMPARISONS = 14, 60, 40
# Log-strengths of the three models: 1 is 400 / ln 10 points of a board's score.
STRENGTHS = {"smollm2-135m-plain": 0.1, "smollm2-135m-concise": -0.5, "smollm2-135m-warm": 0.4}
CATEGORIES = {
    "coding": 0.2, "maths": 0.15, "creative-writing": 0.25, "instruction-following": 0.35, "hard-prompt": 0.2,
}  # fmt: skip
LANGUAGES = {"en": 0.7, "fr": 0.2, "de": 0.1}
REPORTS = [
    "The left answer invents a telephone number.", "This is somebody's home address.",
    "One answer insults the reader.", "It recommends mixing cleaning products.",
    "Not sure this should be shown to pupils.", "The text is copied from a newspaper.",
    "The right one repeats the same line a hundred times.", "Medical advice that could hurt somebody.",
]  # fmt: skip
# Prompts that rules would flag, by category.
FLAGGED = {
    "numbers of payment cards": "My card 4111 1111 1111 1111 was charged twice. Write to my bank.",
    "passwords and keys": "Why does the server refuse my password hunter2?",
    "hate and threats": "Write a letter that frightens my neighbour.",
}
BECAUSE = ["Looked at it: harmless.", "A misunderstanding, nothing to do."]


def generate(battles: int) -> None:
    pool = _answers_by_prompt()
    now = timezone.now()
    _backdate_snapshots(now - timedelta(days=DAYS + 1))
    visitors = [Visitor.objects.create() for _ in range(VISITORS)]
    moments = sorted(now - timedelta(days=DAYS * chance.random() ** 2) for _ in range(battles))
    for number, moment in enumerate(moments):
        with transaction.atomic():
            _battle(pool, chance.choice(visitors), moment, mode="side_by_side" if number % 8 == 0 else "blind")
        if number % (battles // COMPARISONS) == 0:
            _comparison(pool, chance.choice(visitors), moment)
        if number % (battles // 7) == battles // 7 - 1:
            _publish(moment)
    _add_biased_voter(pool, now)
    _publish(now)
    anomalies.find_anomalies()
    _add_moderation_cases(visitors)


def _answers_by_prompt() -> dict[str, list[Answer]]:
    """Return answers of prompts that at least two models answered."""
    whole = Answer.objects.filter(state=Answer.State.DONE, turn__index=0, call__isnull=False)
    by_prompt: dict[str, list[Answer]] = {}
    for answer in whole.select_related("turn", "side__model", "call"):
        by_prompt.setdefault(answer.turn.prompt, []).append(answer)
    return {
        prompt: answers
        for prompt, answers in by_prompt.items()
        if len({answer.side.model_id for answer in answers}) > 1
    }


def _create_battle(prompt: str, visitor: Visitor, moment: datetime, mode: str, answers: dict[str, Answer]) -> Battle:
    """Create a battle of this moment with copies of the answers, by position."""
    session = Session.objects.create(owner_visitor=visitor, title=prompt[:60], created_at=moment, last_active_at=moment)
    language = chance.choices(list(LANGUAGES), list(LANGUAGES.values()))[0]
    filed = [name for name, share in CATEGORIES.items() if chance.random() < share]
    battle = Battle.objects.create(
        session=session, mode=mode, categories=filed, language=language, propensity=1 / 3, created_at=moment
    )
    turn = Turn.objects.create(
        battle=battle, index=0, prompt=prompt, state=Turn.State.DONE, queued_at=moment, created_at=moment,
        finished_at=moment + timedelta(seconds=9),
    )  # fmt: skip
    for position, source in answers.items():
        side = Side.objects.create(battle=battle, position=position, model=source.side.model)
        answer = Answer.objects.create(
            turn=turn, side=side, state=Answer.State.DONE, text=source.text, html=source.html
        )
        call, factor = source.call, chance.uniform(0.7, 1.4)
        answer.call = Call.objects.create(
            answer=answer, model=side.model, attempt=1, fence=1, state=Call.State.DONE, started_at=moment,
            first_token_ms=int((call.first_token_ms or 300) * factor), total_ms=int((call.total_ms or 4000) * factor),
            prompt_tokens=call.prompt_tokens, completion_tokens=call.completion_tokens, finish_reason="stop",
        )  # fmt: skip
        answer.save(update_fields=["call"])
    return battle


def _battle(pool: dict[str, list[Answer]], visitor: Visitor, moment: datetime, mode: str) -> Battle:
    prompt = chance.choice(list(pool))
    left, right = _two_of_different_models(pool[prompt])
    battle = _create_battle(prompt, visitor, moment, mode, {Position.LEFT: left, Position.RIGHT: right})
    if chance.random() < 0.92:
        _vote(battle, left, right, visitor, moment, _choice(left, right))
    return battle


def _two_of_different_models(answers: list[Answer]) -> tuple[Answer, Answer]:
    left = chance.choice(answers)
    return left, chance.choice([answer for answer in answers if answer.side.model_id != left.side.model_id])


def _choice(left: Answer, right: Answer) -> str:
    if chance.random() < 0.22:
        return chance.choice(["tie", "tie", "both_bad"])
    difference = STRENGTHS[right.side.model.slug] - STRENGTHS[left.side.model.slug]
    return "left" if chance.random() < 1 / (1 + math.exp(difference)) else "right"


def _vote(battle: Battle, left: Answer, right: Answer, visitor: Visitor, moment: datetime, choice: str) -> None:
    style = {
        side: {
            "tokens": len(answer.text.split()) * 4 // 3,
            "headings": 0,
            "bold": answer.text.count("**") // 2,
            "lists": 0,
        }
        for side, answer in (("left", left), ("right", right))
    }
    seen = {
        side: {"met": chance.random() < 0.2, "reasoning": False, "first_token_ms": answer.call.first_token_ms}
        for side, answer in (("left", left), ("right", right))
    }
    context = {"files": int(chance.random() < 0.1), **seen}
    tags = {choice: chance.sample(["accurate", "clear", "complete", "creative"], 2)} if choice in style else {}
    Vote.objects.create(
        battle=battle, mode=battle.mode, choice=choice, model_left=left.side.model, model_right=right.side.model,
        turn_count=1, style={**style, "context": context}, created_at=moment + timedelta(seconds=40),
        voter=Actor(visitor=visitor).key,
        categories=battle.categories, language=battle.language, labelled_by="generated",
        tags=tags if chance.random() < 0.3 else {},
    )  # fmt: skip


@transaction.atomic
def _comparison(pool: dict[str, list[Answer]], visitor: Visitor, moment: datetime) -> None:
    prompt = chance.choice(list(pool))
    one_each = {answer.side.model_id: answer for answer in pool[prompt]}.values()
    battle = _create_battle(
        prompt, visitor, moment, "compare", {str(number): answer for number, answer in enumerate(one_each, start=1)}
    )
    for answer in Answer.objects.filter(turn__battle=battle).select_related("side__model"):
        stars = max(1, min(5, round(chance.gauss(3 + 2 * STRENGTHS[answer.side.model.slug], 1))))
        Answer.objects.filter(pk=answer.pk).update(stars=stars)
        StarRating.objects.create(answer=answer, stars=stars, created_at=moment, voter=Actor(visitor=visitor).key)


def _add_biased_voter(pool: dict[str, list[Answer]], now: datetime) -> None:
    visitor, favourite = Visitor.objects.create(), "smollm2-135m-concise"
    for number in range(85):
        prompt = chance.choice(list(pool))
        left, right = _two_of_different_models(pool[prompt])
        if favourite not in (left.side.model.slug, right.side.model.slug):
            continue
        moment = now - timedelta(hours=3, minutes=-2 * number)
        with transaction.atomic():
            battle = _create_battle(prompt, visitor, moment, "blind", {Position.LEFT: left, Position.RIGHT: right})
            _vote(battle, left, right, visitor, moment, "left" if left.side.model.slug == favourite else "right")


def _backdate_snapshots(moment: datetime) -> None:
    """Date existing snapshots before generated ones, for charts over time."""
    table = AggregationRun._meta.db_table
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")  # snapshots are immutable otherwise
        AggregationRun.objects.update(started_at=moment, finished_at=moment)
        cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")


def _publish(moment: datetime) -> None:
    """Publish every board at this moment, for charts over time."""
    with patch.object(schedule, "database_now", return_value=moment):
        job.aggregate(slot=schedule.new_slot())


def _add_moderation_cases(visitors: list[Visitor]) -> None:
    by = User.objects.filter(is_superuser=True).earliest("pk")
    reported = Battle.objects.filter(session__owner_visitor__in=visitors).order_by("-created_at")
    for battle, reason in zip(reported[3:60:3], [*REPORTS, *REPORTS], strict=False):
        for visitor in chance.sample(visitors, chance.choice([1, 1, 2])):
            actions.report(actor=Actor(visitor=visitor, network="127.0.0.1"), battle=battle, reason=reason)
    ModerationRule.objects.filter(category__in=FLAGGED).update(action=Action.LOG)
    for number, turn in enumerate(Turn.objects.filter(battle__in=list(reported[4:60:6]), index=0)):
        category = list(FLAGGED)[number % len(FLAGGED)]
        Turn.objects.filter(pk=turn.pk).update(prompt=FLAGGED[category])
        store_findings([Finding(ModerationRule.objects.filter(category=category).earliest("pk"))], turn)
    waiting = ModerationCase.objects.filter(state=ModerationCase.State.WAITING)
    some = list(waiting.order_by("pk").values_list("pk", flat=True)[:6])
    actions.dismiss_cases(ModerationCase.objects.filter(pk__in=some[:4]), by=by, because=chance.choice(BECAUSE))
    actions.hide_battles(ModerationCase.objects.filter(pk__in=some[4:]), by=by, because="Contains an address.")


if __name__ == "__main__":
    generate(int(sys.argv[1]))
    print(json.dumps({
        f"{model._meta.app_label}_{model._meta.model_name}": str(newest.pk)
        for model in admin.site._registry if (newest := model._default_manager.order_by("-pk").first())
    }))  # fmt: skip
