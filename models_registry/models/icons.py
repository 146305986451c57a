from django.db import models


class ModelIcon(models.Model):
    """A square PNG, encoded by the arena. Addressed by its content: it never changes."""

    digest = models.CharField(max_length=32, primary_key=True)
    content = models.BinaryField()

    def __str__(self) -> str:
        return self.digest
