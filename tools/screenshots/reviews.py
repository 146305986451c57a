"""Reviews in their states, with people who voted, for the pictures."""

from collections.abc import Callable
from datetime import timedelta
from random import Random

from django.utils import timezone

from accounts.actor import Actor
from accounts.models import User, Visitor
from battles import actions as battles
from battles.models import Answer, Battle, Vote
from benchmarks.models import Run
from common.rendering.blocking import render
from models_registry.models import LanguageModel
from reviews import actions
from reviews.models import Review, ReviewBattle
from reviews.second_opinions.actions import ask_others
from tests import make

NETWORKS = ["a classroom"] * 9 + ["a phone"]
NICKNAMES = ["Ada", "Bo", "", "Chloé", "Dmitri", "", "Emre", "Fatou", "", "Gus"]
TWO_ANSWERS = (
    "**Twice a day.** The moon pulls the water towards it; the earth turns below two bulges.",
    "The sea rises when the wind blows from the west, and falls at night.",
)
READING = timedelta(seconds=20)
Choose = Callable[[Battle], Vote.Choice]


def closed_review(run: Run) -> Review:
    review = _opened(run, title="Capitals", audience="everyone", opinions_per_item=3)
    for number in range(4):
        _vote(_visitor(), review, _taste(number), most=12)
    review.refresh_from_db()
    return review if review.state == Review.State.CLOSED else actions.close_review(review)


def draft(run: Run) -> Review:
    return _made(run, title="Before the update", audience="members")


def open_review(run: Run) -> Review:
    title, instructions = "Which answer is better?", "Prefer **short** answers."
    return _opened(run, title=title, audience="members", instructions=instructions, opinions_per_item=3)


def review_by_link(run: Run) -> Review:
    """Return an open review to which ten people came: one always votes left, one has not voted yet."""
    review = _opened(run, title="By link", audience="link", expected_people=40, opinions_per_item=9)
    for number, (nickname, network) in enumerate(zip(NICKNAMES, NETWORKS, strict=True)):
        person = Actor(visitor=Visitor.objects.create(), network=f"{network:32}"[:32])
        actions.join_review(person, review, code=review.code, nickname=nickname)
        choose = _left if number == 4 else _taste(number)
        _vote(person, review, choose, most=0 if number == 8 else 14)
        _spread_out(review, person, seconds=3 if number == 4 else 20 + number)
    return review


def review_by_codes(run: Run) -> Review:
    return _opened(run, title="By codes", audience="codes", expected_people=40)


def second_opinions(owner: User, models: list[LanguageModel]) -> tuple[Battle, Battle, Review]:
    """Return a voted battle, and another with its second opinion on which people voted."""
    member = Actor(user=owner)
    alone, asked = (_voted_battle(member, models) for _ in range(2))
    review = ask_others(actor=member, battle=asked)
    for number in range(7):
        _vote(_visitor(), review, _taste(number), most=1)
    return alone, asked, review


def _made(run: Run, **terms: object) -> Review:
    assert run.owner is not None
    return actions.create_review(owner=run.owner, run=run, **terms)  # type: ignore[arg-type]


def _opened(run: Run, **terms: object) -> Review:
    return actions.open_review(_made(run, **terms))


def _visitor() -> Actor:
    return Actor(visitor=Visitor.objects.create(), network="a classroom")


def _vote(person: Actor, review: Review, choose: Choose, *, most: int) -> None:
    for _ in range(most):
        review = Review.objects.select_related("run", "battle", "team").get(pk=review.pk)
        battle = actions.next_battle(person, review) if review.takes_votes else None
        if battle is None:
            return
        # A vote that leaves no time to read the answers would not count.
        Battle.objects.filter(pk=battle.pk).update(created_at=timezone.now() - READING)
        battle.refresh_from_db(fields=["created_at"])
        battles.cast_vote(actor=person, battle=battle, choice=choose(battle))


def _left(_battle: Battle) -> Vote.Choice:
    return Vote.Choice.LEFT


def _taste(seed: int) -> Choose:
    """Return a person who mostly prefers the model that was added first."""
    random = Random(seed)

    def choose(battle: Battle) -> Vote.Choice:
        if random.random() < 0.1:
            return Vote.Choice.TIE
        first, second = battle.sides.order_by("model")
        return Vote.Choice((first if random.random() < 0.85 else second).position)

    return choose


def _spread_out(review: Review, person: Actor, *, seconds: int) -> None:
    """Let the person's votes have taken some seconds each."""
    start = timezone.now() - timedelta(hours=1)
    for number, drawn in enumerate(ReviewBattle.objects.filter(review=review, person=person.key).order_by("pk")):
        shown_at = start + timedelta(seconds=number * (seconds + 2))
        Battle.objects.filter(pk=drawn.battle_id).update(created_at=shown_at)
        drawn.ended_at = shown_at + timedelta(seconds=seconds + number % 3)
        drawn.save(update_fields=["ended_at"])


def _voted_battle(member: Actor, models: list[LanguageModel]) -> Battle:
    battle = make.answered_battle(models[0], models[1], actor=member)
    battle.turns.update(prompt="Why are there tides?")
    battle.session.title = "Why are there tides?"
    battle.session.save(update_fields=["title"])
    for answer, text in zip(Answer.objects.filter(turn__battle=battle).order_by("pk"), TWO_ANSWERS, strict=True):
        call = make.stored_call(answer.side.model, finish_reason="stop")
        Answer.objects.filter(pk=answer.pk).update(text=text, html=render(text), call=call)
    battles.cast_vote(actor=member, battle=battle, choice=Vote.Choice.LEFT)
    return Battle.objects.get(pk=battle.pk)
