"""Draw of voted battles for a judge, in the order of the votes' numbers."""

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.crypto import salted_hmac

from battles.models import Battle, Vote
from benchmarks.live_judging.reading import reason_against
from benchmarks.models import LiveDraw, LiveJudge, LiveJudgement

BATCH = 1_000
_BITS = 64
# Votes on Overall.
OF_THE_BOARD = Q(mode=Battle.Mode.BLIND, origin=Battle.Origin.DRAW, on_site_boards=True, series="")


def with_votes_to_draw() -> QuerySet[LiveJudge]:
    return LiveJudge.objects.filter(Exists(Vote.objects.filter(order__gt=OuterRef("last_order"))), is_on=True)


def is_drawn(battle: str, percent: float) -> bool:
    """Return whether a share of all battles has this one. battle: its public id, which decides with the site's key."""
    digest = salted_hmac("benchmarks.live_judging", battle, algorithm="sha256").digest()
    return int.from_bytes(digest[: _BITS // 8], "big") < percent / 100 * float(2**_BITS)


@transaction.atomic
def draw_votes() -> None:
    """Draw from the next votes, and store questions about the drawn battles that the judge may read."""
    judges = LiveJudge.objects.select_for_update(no_key=True, of=("self",)).select_related("judge__model__provider")
    live = judges.filter(is_on=True).first()
    if live is None:
        return
    later = Vote.objects.filter(order__gt=live.last_order).order_by("order")
    numbers = [order for order in later.values_list("order", flat=True)[:BATCH] if order is not None]
    if not numbers:
        return
    on_board = Vote.objects.filter(OF_THE_BOARD, order__in=numbers)
    battles = on_board.order_by("order").values_list("battle", "battle__public_id")
    percent = float(live.share)
    drawn = [battle for battle, public_id in battles if is_drawn(public_id, percent)]
    _store(live, drawn)
    live.last_order = numbers[-1]
    live.save(update_fields=["last_order"])


def _store(live: LiveJudge, drawn: list[int]) -> None:
    battles = Battle.objects.select_related("session", "vote").in_bulk(drawn)
    draws = LiveDraw.objects.bulk_create(
        LiveDraw(
            live_judge=live, battle=battles[pk], share=live.share, left_out=reason_against(live.judge, battles[pk])
        )
        for pk in drawn
    )  # fmt: skip
    LiveJudgement.objects.bulk_create(
        LiveJudgement(draw=draw, is_swapped=is_swapped)
        for draw in draws
        if not draw.left_out
        for is_swapped in (False, True)
    )
