from django.db import models

from battles.models.turns import Answer


class AnswerState(models.Model):
    """State that the server of an answer's model wants back, encrypted: docs/adr/0067."""

    # A table of its own, because answers are read in many places, and its shape names the vendor.
    answer = models.OneToOneField(Answer, models.CASCADE, primary_key=True, related_name="provider_state")
    encrypted = models.BinaryField(editable=False)

    def __str__(self) -> str:
        return str(self.answer_id)
