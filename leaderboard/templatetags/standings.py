"""`{% places_of battles as places %}`, `{% with_places battle places as sides %}`: where revealed models stand."""

from django import template

from battles.payload_types import BattlePayload, SidePayload
from leaderboard.boards import reveal

register = template.Library()


class SideWithPlace(SidePayload):
    place: reveal.PlaceNumbers
    spent: reveal.Spent


@register.simple_tag
def places_of(battles: list[BattlePayload]) -> reveal.Places:
    """Of all battles of a page at once."""
    return reveal.places_of(battles)


@register.simple_tag
def with_places(battle: BattlePayload, places: reveal.Places | str) -> list[SideWithPlace]:
    """The battle's sides, each with its `place` and with what it `spent` up to the vote.

    places: those of the whole page, or "" where only this battle is printed.
    """
    known = places if isinstance(places, dict) else reveal.places_of([battle])
    return [
        {**side, "place": known[battle["id"], side["side"]], "spent": reveal.spent_by(side["side"], battle)}
        for side in battle["sides"] or ()
    ]
