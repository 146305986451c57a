from django.core.validators import RegexValidator
from django.db import models
from django.utils.translation import gettext_lazy as _


class FeedbackTag(models.Model):
    """Tag that voters may give to an answer. Votes refer to it by slug."""

    slug = models.CharField(
        _("identifier"), max_length=40, unique=True,
        validators=[RegexValidator(r"^[a-z0-9_]+$", _("Use small letters, digits and “_” only."), "invalid_slug")],
    )  # fmt: skip
    is_good = models.BooleanField(_("speaks for the answer"), default=True)
    # Language → label; empty for a tag of battles.feedback.BUILT_IN, whose label is translated there.
    labels = models.JSONField(_("label"), default=dict, blank=True)
    position = models.PositiveSmallIntegerField(_("position"), default=0, db_default=0)
    is_retired = models.BooleanField(_("retired"), default=False, db_default=False)

    class Meta:
        ordering = ["-is_good", "position", "slug"]
        verbose_name = _("feedback tag")
        verbose_name_plural = _("feedback tags")

    def __str__(self) -> str:
        return self.slug
