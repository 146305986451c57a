"""`{% with words=battle.mode|mode_words %}{{ words.heading }}`, `{% answer_label battle.mode answer.side %}`."""

from django import template
from django.utils.translation import gettext as _

from battles.mode_words import MODE_WORDS, ModeWords
from battles.models import Battle, Position

register = template.Library()


@register.filter
def mode_words(mode: str) -> ModeWords:
    return MODE_WORDS[Battle.Mode(mode)]


@register.simple_tag
def answer_label(mode: str, side: str) -> str:
    """Return the title of one answer: "Left answer"."""
    if mode == Battle.Mode.DIRECT:
        return _("Answer")
    if side == Position.LEFT:
        return _("Left answer")
    if side == Position.RIGHT:
        return _("Right answer")
    return _("Answer %(number)s") % {"number": side}


@register.simple_tag
def the_answer(mode: str, side: str) -> str:
    """Return one answer as the object of a sentence: "the left answer"."""
    if mode == Battle.Mode.DIRECT:
        return _("this answer")
    if side == Position.LEFT:
        return _("the left answer")
    if side == Position.RIGHT:
        return _("the right answer")
    return _("answer %(number)s") % {"number": side}
