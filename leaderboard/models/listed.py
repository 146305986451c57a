from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from common.cache import TTLCached
from common.db.execution import rows_if_migrated
from leaderboard.models.snapshots import OVERALL

LAST = 32_767


class ListedBoard(models.Model):
    """An administrator's title, place and visibility of a board. Votes and snapshots do not depend on it."""

    scope = models.CharField(_("board"), max_length=80, unique=True)
    title = models.CharField(_("title"), max_length=80, blank=True, help_text=_("Empty: the usual title."))
    position = models.PositiveSmallIntegerField(
        _("place"), default=LAST, help_text=_("Among boards of its kind: lower numbers first, equal ones by title.")
    )
    is_hidden = models.BooleanField(_("hidden"), default=False)

    class Meta:
        verbose_name = _("listed board")
        verbose_name_plural = _("listed boards")
        constraints = [
            models.CheckConstraint(
                condition=~Q(scope=OVERALL, is_hidden=True),
                name="overall_is_not_hidden",
                violation_error_message=_("Overall cannot be hidden."),
            )
        ]

    def __str__(self) -> str:
        return self.scope


listed_boards = TTLCached(
    lambda: {board.scope: board for board in rows_if_migrated(ListedBoard.objects.all())},
    ttl_s=5,
    invalidated_by=(ListedBoard,),
)


def is_hidden(scope: str) -> bool:
    board = listed_boards().get(scope)
    return board is not None and board.is_hidden
