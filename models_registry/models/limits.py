from django.db import models
from django.utils.translation import gettext_lazy as _

from models_registry.models.language_models import LanguageModel


class ModelLimit(models.Model):
    """Rate of the prompts that all people together send to a model they chose (docs/adr/0047)."""

    model = models.OneToOneField(LanguageModel, models.CASCADE, related_name="+", verbose_name=_("model"))
    # “100/hour”, or “off”.
    rate = models.CharField(_("rate"), max_length=100)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name = _("limit of a model")
        verbose_name_plural = _("limits of models")

    def __str__(self) -> str:
        return str(self.model)
