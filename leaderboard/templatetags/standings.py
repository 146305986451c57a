"""Places of revealed models: `{% battle_places … %}` and `{% sides_with_places … %}`."""

from django import template

from battles.payload_types import BattlePayload, SidePayload
from leaderboard.boards import reveal

register = template.Library()
register.simple_tag(reveal.battle_places)


class SideWithPlace(SidePayload):
    place: reveal.PlaceNumbers
    spent: reveal.AnswerTotals


@register.simple_tag
def sides_with_places(battle: BattlePayload, places: reveal.Places | str) -> list[SideWithPlace]:
    """Return the sides with `place`, and with totals before the vote as `spent`.

    places: result of battle_places, or "" to read them for this battle.
    """
    page_places = places if isinstance(places, dict) else reveal.battle_places([battle])
    return [
        {**side, "place": page_places[battle["id"], side["side"]], "spent": reveal.answer_totals(side["side"], battle)}
        for side in battle["sides"] or ()
    ]
