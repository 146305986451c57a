from django.db import models
from django.utils.text import Truncator
from django.utils.translation import gettext_lazy as _

from common.text.translated import in_best_language


class PromptSuggestion(models.Model):
    """Prompt that the start page suggests, in the languages for which it has a text."""

    texts = models.JSONField(_("prompt"), default=dict)
    position = models.PositiveSmallIntegerField(_("position"), default=0, db_default=0)
    is_shown = models.BooleanField(_("shown"), default=True, db_default=True)

    class Meta:
        ordering = ["position", "pk"]
        verbose_name = _("prompt suggestion")
        verbose_name_plural = _("prompt suggestions")

    def __str__(self) -> str:
        return Truncator(in_best_language(self.texts)).chars(60)
