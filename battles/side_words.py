"""Texts of the pages about a battle's two sides; the API has the stored values instead."""

from django.utils.translation import gettext_lazy as _

from battles.models import Position, Vote

_LETTERS: dict[str, str] = {Position.LEFT: "A", Position.RIGHT: "B"}

CHOICE_LABELS = {
    Vote.Choice.LEFT: _("A is better"),
    Vote.Choice.TIE: _("Tie"),
    Vote.Choice.BOTH_BAD: _("Both are bad"),
    Vote.Choice.RIGHT: _("B is better"),
}


def choice_label(choice: str) -> str:
    return str(CHOICE_LABELS[Vote.Choice(choice)])


def side_letter(side: str) -> str:
    return _LETTERS.get(side, side)
