from django.db import models

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

    def __str__(self) -> str:
        return str(self.model_id)
