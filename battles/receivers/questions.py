from django.dispatch import receiver

from battles.tasks import wake_probe, wake_repair_check
from models_registry.health.signals import question_due, repair_suspected


@receiver(question_due)
def wake_worker(breaker_id: int, **_: object) -> None:
    wake_probe(breaker_id)


@receiver(repair_suspected)
def wake_checking_worker(repair_id: int, **_: object) -> None:
    wake_repair_check(repair_id)
