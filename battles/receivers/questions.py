from django.dispatch import receiver

from battles.tasks import wake_probe
from models_registry.health.signals import question_due


@receiver(question_due)
def wake_worker(breaker_id: int, **_: object) -> None:
    wake_probe(breaker_id)
