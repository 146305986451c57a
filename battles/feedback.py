"""Feedback on answers after the vote."""

from django.utils.translation import gettext_lazy as _

GOOD = {
    "accurate": _("accurate"),
    "clear": _("clear"),
    "complete": _("complete"),
    "creative": _("creative"),
    "followed_instructions": _("followed instructions"),
}
BAD = {
    "wrong": _("wrong"),
    "shallow": _("shallow"),
    "ignored_instructions": _("ignored instructions"),
    "refused": _("refused"),
}
TAGS = {**GOOD, **BAD}
MAX_CHARACTERS = 2000
