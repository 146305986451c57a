"""The next blind battle of a person: drawn, leased, then shown."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import cast

from django.db import IntegrityError, connection, transaction
from django.db.models import Count, F
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.actor import Actor
from battles.actions.stored_battles import StoredAnswer, StoredTurn, start_stored_battle
from battles.models import Battle, Call, Vote
from benchmarks.models import Entrant, ItemReply, RenderedPrompt
from benchmarks.preparation.case_files import FILES_KEY
from common.db.execution import violates
from common.payload_types import JsonObject
from common.prepared import PreparedQuery, any_of
from common.rendering.blocking import render
from reviews import access
from reviews.actions.contrasts import decided_pairs
from reviews.actions.people import note_reviewer
from reviews.actions.repeats import draw_repeat, gold_turns, left_model_of_repeat
from reviews.actions.stopping import wait_for
from reviews.drawing import Cell, draw_cell, gains_of_pairs
from reviews.errors import PersonSetAside, ReviewTakesNoVotes
from reviews.models import Review, ReviewBattle, ReviewItem
from reviews.second_opinions.actions import read_turns
from reviews.sql import read_sql
from uploads.models import Upload

Gains = Mapping[tuple[int, int], float]
Parameters = Mapping[str, int | str | float | list[str] | None]
# Draws of a cell whose items others have just reserved.
MAX_DRAWS = 20
_drawn = PreparedQuery(
    lambda pk: ReviewBattle.objects.select_related("review_item__first_model", "review_item__second_model").filter(
        pk=pk
    ),
    int,
)
_locked = PreparedQuery(lambda pk: ReviewBattle.objects.select_for_update().filter(pk=pk), int)
_open = PreparedQuery(
    lambda review, person: ReviewBattle.objects.filter(review=review, person=person, ended_at=None), int, str
)
_last = PreparedQuery(
    lambda review, person: (
        ReviewBattle.objects.select_related("review_item").filter(review=review, person=person)
        .order_by("-drawn_at", "-pk")[:1]
    ),
    int,
    str,
)  # fmt: skip
_replies = PreparedQuery(
    lambda items: (
        ItemReply.objects.select_related("reply__call").defer("reply__call__request")
        .filter(any_of("item_id", items)).order_by("turn")
    ),
    list,
)  # fmt: skip
_prompts = PreparedQuery(
    lambda item, case: RenderedPrompt.objects.filter(
        prompt__in=Entrant.objects.filter(items=item).values("prompt"), case=case
    ),
    int,
    int,
)
MAX_TITLE = 120  # of a session


def next_battle(actor: Actor, review: Review) -> Battle | None:
    """Return a battle to vote on, the one that the person has not voted on again; None if nothing is left for them.

    Raises ReviewTakesNoVotes and PersonSetAside.
    """
    if not review.takes_votes:
        raise ReviewTakesNoVotes
    if note_reviewer(actor, review).set_aside_at is not None:
        raise PersonSetAside
    drawn = _held(actor, review) or _draw(actor, review)
    wait_for(review, actor.key)
    return None if drawn is None else _shown(actor, review, drawn)


def _held(actor: Actor, review: Review) -> ReviewBattle | None:
    """Return the person's open battle with a new lease."""
    held = _open(review.pk, actor.key)
    return _with_new_lease(held[0]) if held else None


@transaction.atomic
def _with_new_lease(held: ReviewBattle) -> ReviewBattle | None:
    drawn = ReviewBattle.objects.select_for_update().filter(pk=held.pk, ended_at=None).first()
    if drawn is None:
        return None
    if drawn.battle is not None and _is_lost(drawn.battle):
        give_up(drawn)
        return None
    if not drawn.knew_answers and drawn.repeats_id is None:
        if drawn.lease_until is None:
            ReviewItem.objects.filter(pk=drawn.review_item_id).update(leases=F("leases") + 1)
        drawn.lease_until = timezone.now() + ReviewBattle.LEASE
        drawn.save(update_fields=["lease_until"])
    return drawn


def _is_lost(battle: Battle) -> bool:
    """Return whether the person can no longer vote on it: deleted by them, or hidden by a moderator."""
    is_deleted = battle.session.owner is None or battle.session.discarded_at is not None
    return is_deleted or battle.is_hidden or battle.is_void


def give_up(drawn: ReviewBattle) -> None:
    """End a battle without an opinion. In a transaction that holds its row."""
    if drawn.lease_until is not None:
        ReviewItem.objects.filter(pk=drawn.review_item_id).update(leases=F("leases") - 1)
    drawn.lease_until, drawn.ended_at = None, timezone.now()
    drawn.save(update_fields=["lease_until", "ended_at"])


def _draw(actor: Actor, review: Review) -> ReviewBattle | None:
    if has_reached_limit(actor, review):
        return None
    counts = not access.knows_answers(actor, review)
    last = _last(review.pk, actor.key)
    last_case = last[0].review_item.case_id if last else None
    parameters: Parameters = {
        "review": review.pk, "person": actor.key, "keys": access.keys_in(review, actor),
        "most": review.opinions_per_item, "counts": counts, "last_case": last_case,
        "lease_s": ReviewBattle.LEASE.total_seconds(),
    }  # fmt: skip
    gains = partial(_gains, review) if review.plan == Review.Plan.ADAPTIVE else None
    decided = decided_pairs(review)
    try:
        again = draw_repeat(actor, review, last_case=last_case) if counts else None
        if again is not None:
            return _drawn(again.pk)[0]
        drawn = _draw_of(parameters, gains, decided)
        if drawn is None and last_case is not None:  # nothing but the prompt of last time is left
            drawn = _draw_of({**parameters, "last_case": None}, gains, decided)
    except IntegrityError as error:
        if not violates(error, "a_person_has_one_battle_of_a_review_open"):
            raise
        return _held(actor, review)  # drawn in another tab meanwhile
    return None if drawn is None else _drawn(drawn)[0]


def _gains(review: Review, cells: Sequence[Cell]) -> Gains:
    votes = Vote.objects.filter(series=review.public_id, excluded_reason="").order_by()
    counts = votes.values_list("model_left", "model_right", "choice").annotate(n=Count("pk"))
    shares = {Vote.Choice.LEFT: 1.0, Vote.Choice.RIGHT: 0.0}
    outcomes = [(left, right, shares.get(Vote.Choice(choice), 0.5), n) for left, right, choice, n in counts]
    return gains_of_pairs(list({model for cell in cells for model in cell.models}), outcomes)


def _draw_of(
    parameters: Parameters,
    gains: Callable[[Sequence[Cell]], Gains] | None,
    decided: Collection[tuple[int, int]],
) -> int | None:
    """Return the id of a new ReviewBattle. decided: pairs that are drawn no longer."""
    for _attempt in range(MAX_DRAWS):
        with connection.cursor() as cursor:
            cursor.execute(read_sql("cells_for_person.sql"), parameters)
            cells = [cell for cell in map(Cell._make, cursor.fetchall()) if not decided or cell.models not in decided]
            if not cells:
                return None
            draw = draw_cell(cells, None if gains is None else gains(cells))
            chances = {"propensity": draw.propensity, "pair_propensity": draw.pair_propensity}
            with transaction.atomic():
                cursor.execute(read_sql("draw_item.sql"), {**parameters, **chances, "cell": draw.cell.number})
                if row := cursor.fetchone():
                    return cast(int, row[0])
    return None


def has_reached_limit(actor: Actor, review: Review) -> bool:
    if review.most_per_person is None:
        return False
    keys = access.keys_in(review, actor)
    ended = ReviewBattle.objects.filter(review=review, person__in=keys, ended_at__isnull=False, repeats=None)
    return ended.count() >= review.most_per_person


def _shown(actor: Actor, review: Review, drawn: ReviewBattle) -> Battle:
    """Return the battle, made now if it was never shown. Raises ReviewTakesNoVotes."""
    if drawn.battle is not None:
        return drawn.battle
    item = drawn.review_item
    turns = _read_turns(item) if review.battle is None else read_turns(review.battle, item)
    if drawn.gold_model_id is not None:
        turns = gold_turns(item, drawn.gold_model_id, turns)
    title = (_("Review of %(title)s") % {"title": review.title})[:MAX_TITLE]
    with transaction.atomic():
        if review.battle_id is not None and not Review.objects.lock(review.pk).takes_votes:
            raise ReviewTakesNoVotes  # withdrawn meanwhile, perhaps because its texts were deleted
        # Joined rows would be those from before the wait for the lock.
        [drawn] = _locked(drawn.pk)
        if drawn.battle is None:  # else another tab was faster
            drawn.battle = start_stored_battle(
                actor, series=review.public_id, title=title, team=review.team, turns=turns,
                models=(item.first_model, item.second_model), propensity=drawn.pair_propensity,
                left=left_model_of_repeat(drawn),
                conceals_names=review.battle_id is None and not review.names_after_vote,
            )  # fmt: skip
            drawn.save(update_fields=["battle"])
    return drawn.battle


def _read_turns(item: ReviewItem) -> list[StoredTurn]:
    """Return the turns of both answers, in the order first, second. Renders them, which may take long."""
    first, second = cast(int, item.first_item_id), cast(int, item.second_item_id)
    by_turn: dict[int, dict[int, StoredAnswer]] = {}
    for row in _replies([first, second]):
        by_turn.setdefault(row.turn, {})[row.item_id] = StoredAnswer(
            text=row.reply.text, call=cast(Call, row.reply.call), reasoning=row.reply.reasoning,
            html=render(row.reply.text),
        )  # fmt: skip
    [rendered] = _prompts(first, cast(int, item.case_id))
    prompts = [_prompt_text(rendered.messages), *rendered.turns]
    files = _files(rendered.messages)
    return [
        StoredTurn(
            prompt=prompts[turn], answers=(answers[first], answers[second]), attachments=files if turn == 0 else ()
        )
        for turn, answers in by_turn.items()
    ]  # fmt: skip


def _prompt_text(messages: Sequence[JsonObject]) -> str:
    """Return messages as one text: instructions before the question, a longer chat with its roles."""
    if any(message["role"] == "assistant" for message in messages):
        return "\n\n".join(f"{message['role'].capitalize()}: {message['content']}" for message in messages)
    return "\n\n".join(str(message["content"]) for message in messages)


def _files(messages: Sequence[JsonObject]) -> list[Upload]:
    ids = [pk for message in messages for pk in message.get(FILES_KEY, ())]
    uploads = Upload.objects.in_bulk(ids) if ids else {}
    return [uploads[pk] for pk in ids if pk in uploads]
