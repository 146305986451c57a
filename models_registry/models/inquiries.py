from collections.abc import Collection
from datetime import timedelta

from django.db import models
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from common.db.execution import is_migrated
from models_registry.breaker_rule import CONVERSATIONS, PEOPLE
from models_registry.models.breakers import Breaker

MAX_FAILURES = 60
CLEARED_FOR = timedelta(hours=1)
MAX_CLEARED = 200


def inquiries_exist() -> bool:
    """Return False while an update has not created this table and that of repairs."""
    return is_migrated(Inquiry)


class InquiryQuerySet(models.QuerySet["Inquiry"]):
    def due(self) -> "InquiryQuerySet":
        return self.filter(due_at__lte=Now(), breaker__probe_at=None)

    def take(self, breaker_id: int, *, lease: timedelta) -> bool:
        due = self.filter(pk=breaker_id, due_at__lte=Now())
        return due.update(due_at=Now() + lease, asked_at=Now()) == 1

    def forget(self, breakers: Collection[int]) -> None:
        self.filter(pk__in=breakers).update(failures=[], due_at=None)


class Inquiry(models.Model):
    """Failures since a model's last answer, and the neutral question that must fail, too."""

    # A table of its own, because breakers are on the way to a vote. The breaker's lock guards it.

    class Cause(models.TextChoices):
        RULE = "rule", _("failures in a row")
        QUESTION = "question", _("a neutral question failed, too")
        NOT_ASKED = "not_asked", _("a neutral question could not be asked: no free slot or no money")
        PEOPLE = "people", _("ten conversations of several people had no answer")

    breaker = models.OneToOneField(
        Breaker, models.CASCADE, primary_key=True, related_name="inquiry", db_constraint=False
    )
    # [conversation, digest of the person, code], newest last.
    failures = models.JSONField(default=list)
    # Digests, with the time of the question that was answered, in seconds.
    cleared_people = models.JSONField(default=dict)
    asked_model = models.ForeignKey(
        "models_registry.LanguageModel", models.SET_NULL, null=True, related_name="+", db_constraint=False
    )
    # Time from which the question may be asked; while it is asked, the end of its lease.
    due_at = models.DateTimeField(null=True)
    asked_at = models.DateTimeField(null=True)
    # Questions that were answered, so that the failures belonged to their prompts.
    cleared = models.PositiveIntegerField(default=0)
    cleared_at = models.DateTimeField(null=True)
    # Why the breaker opened last.
    cause = models.CharField(max_length=10, choices=Cause, blank=True)

    objects = InquiryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = _("inquiries")
        indexes = [models.Index(fields=["due_at"], name="questions_due", condition=~models.Q(due_at=None))]

    def __str__(self) -> str:
        return f"inquiry of {self.breaker}"

    def add_failure(self, conversation: str, person: str, code: str) -> None:
        """Note a conversation's last failure; of too many, drop the oldest of the busiest person."""
        failures = [failure for failure in self.failures if failure[0] != conversation]
        failures.append([conversation, person, code])
        if len(failures) > MAX_FAILURES:
            people = [failure[1] for failure in failures]
            busiest = max(people, key=people.count)
            failures.pop(people.index(busiest))
        self.failures = failures

    def is_person_cleared(self, person: str) -> bool:
        at = self.cleared_people.get(person)
        return at is not None and timezone.now().timestamp() - at < CLEARED_FOR.total_seconds()

    def clear_people(self) -> None:
        now = timezone.now().timestamp()
        recent = {p: at for p, at in self.cleared_people.items() if now - at < CLEARED_FOR.total_seconds()}
        recent |= {failure[1]: now for failure in self.failures}
        self.cleared_people = dict(sorted(recent.items(), key=lambda item: item[1])[-MAX_CLEARED:])
        self.cleared, self.cleared_at, self.due_at = self.cleared + 1, timezone.now(), None

    @property
    def has_enough_conversations(self) -> bool:
        return len(self.failures) >= CONVERSATIONS

    def concerns_people(self, active: int) -> bool:
        return len({failure[1] for failure in self.failures}) >= max(1, min(PEOPLE, active))
