from django.db import models
from django.utils.text import Truncator
from django.utils.translation import gettext_lazy as _

from battles.models.owners import SiteManager, fixed_owner, team_field
from common.text.translated import in_best_language


class PromptSuggestion(models.Model):
    """Prompt that the start page suggests, in the languages for which it has a text."""

    team = team_field()
    texts = models.JSONField(_("prompt"), default=dict)
    position = models.PositiveSmallIntegerField(_("position"), default=0, db_default=0)
    is_shown = models.BooleanField(_("shown"), default=True, db_default=True)

    # The first one is Django's default, which the administration uses.
    of_every_owner = models.Manager["PromptSuggestion"]()
    objects = SiteManager["PromptSuggestion"]()

    class Meta:
        ordering = ["position", "pk"]
        verbose_name = _("prompt suggestion")
        verbose_name_plural = _("prompt suggestions")
        triggers = [fixed_owner("a_suggestion_keeps_its_owner")]

    def __str__(self) -> str:
        return Truncator(in_best_language(self.texts)).chars(60)
