"""Places of revealed models: `{% battle_places … %}` and `{% sides_with_places … %}`."""

from collections.abc import Iterable

from django import template
from django.template import Context

from battles.payload_types import BattlePayload, SidePayload
from leaderboard.boards import reveal

register = template.Library()


class SideWithPlace(SidePayload):
    place: reveal.SidePlace | None
    spent: reveal.AnswerTotals


@register.simple_tag(takes_context=True)
def battle_places(context: Context, battles: Iterable[BattlePayload]) -> reveal.Places:
    return reveal.battle_places(battles, context["request"].actor)


@register.simple_tag(takes_context=True)
def sides_with_places(context: Context, battle: BattlePayload, places: reveal.Places | str) -> list[SideWithPlace]:
    """Return the sides with `place`, and with totals before the vote as `spent`.

    places: result of battle_places, or "" to read them for this battle.
    """
    page_places = places if isinstance(places, dict) else battle_places(context, [battle])
    return [
        {
            **side,
            "place": page_places.get((battle["id"], side["side"])),
            "spent": reveal.answer_totals(side["side"], battle),
        }
        for side in battle["sides"] or ()
    ]
