from decimal import Decimal

from django.core.validators import MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from models_registry.models.language_models import LanguageModel


class ModelIcon(models.Model):
    """A square PNG, encoded by the arena. Addressed by its content: it never changes."""

    digest = models.CharField(max_length=32, primary_key=True)
    content = models.BinaryField()

    def __str__(self) -> str:
        return self.digest


class ModelProfile(models.Model):
    """A model without a row has no icon and hides nothing."""

    # No constraint: the release before deletes models without knowing this table.
    model = models.OneToOneField(
        LanguageModel, models.CASCADE, primary_key=True, related_name="profile", db_constraint=False
    )
    hides_setup = models.BooleanField(default=False, db_default=False)
    icon = models.ForeignKey(ModelIcon, models.PROTECT, null=True, related_name="+")
    # Estimates of energy use both: parameters that take part in each token, and a name instead of the upstream one.
    active_b = models.DecimalField(
        _("active parameters, billions"), max_digits=9, decimal_places=3, null=True, blank=True,
        validators=[MinValueValidator(Decimal("0.001"))],
    )  # fmt: skip
    energy_name = models.CharField(_("name for energy"), max_length=200, default="", db_default="", blank=True)

    def __str__(self) -> str:
        return str(self.model_id)
