from decimal import Decimal
from typing import ClassVar

from django.core.validators import MinValueValidator
from django.db import models
from django.db.models.functions import Now

from common.text.money import plain_decimal


class Price(models.Model):
    """US dollars per million tokens. Rows are added, never changed: calls refer to the price they paid."""

    model = models.ForeignKey("models_registry.LanguageModel", models.CASCADE, related_name="prices")
    input_per_million = models.DecimalField(max_digits=12, decimal_places=6, validators=[MinValueValidator(Decimal(0))])
    output_per_million = models.DecimalField(
        max_digits=12, decimal_places=6, validators=[MinValueValidator(Decimal(0))]
    )
    valid_from = models.DateTimeField(db_default=Now())

    MILLION: ClassVar[Decimal] = Decimal(1_000_000)

    class Meta:
        ordering = ["-valid_from"]

    def __str__(self) -> str:
        return f"${plain_decimal(self.input_per_million)} in, ${plain_decimal(self.output_per_million)} out"

    @property
    def is_above_zero(self) -> bool:
        return self.input_per_million > 0 or self.output_per_million > 0

    def cost_of(self, *, prompt_tokens: int, completion_tokens: int) -> Decimal:
        """Return US dollars."""
        paid = prompt_tokens * self.input_per_million + completion_tokens * self.output_per_million
        return paid / self.MILLION
