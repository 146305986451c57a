from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, TypedDict, cast

from django.contrib.postgres.expressions import ArraySubquery
from django.contrib.postgres.fields import ArrayField
from django.db import connection, models
from django.db.models import Q
from django.db.models.functions import JSONObject, Now
from django.utils.translation import gettext_lazy as _

from battles.sql import read_sql
from common.db.fields import SafeHtmlField
from common.ids import new_public_id
from models_registry.models import Charge
from uploads.models import Upload
from uploads.payload_types import UploadKind

if TYPE_CHECKING:
    from django_stubs_ext.db.models.manager import RelatedManager

    from battles.models.calls import Call


class TurnQuerySet(models.QuerySet["Turn"]):
    def claim(self, pks: Sequence[int], *, lease: timedelta, max_attempts: int) -> list[int]:
        """Claim those of these turns that are queued; return their ids."""
        with connection.cursor() as cursor:
            cursor.execute(
                read_sql("claim_turns.sql"),
                {"ids": list(pks), "attempts": max_attempts, "lease_s": lease.total_seconds()},
            )
            return [pk for (pk,) in cursor.fetchall()]

    def held(self, pk: int, fence: int) -> "TurnQuerySet":
        """Filter to the turn if the fencing token still holds it."""
        return self.filter(pk=pk, fence=fence, state=Turn.State.ANSWERING)

    def before(self, turn: "Turn") -> "TurnQuerySet":
        """Return the earlier turns in order, with attachments and answers."""
        earlier = self.filter(battle=turn.battle_id, index__lt=turn.index).order_by("index")
        return earlier.with_attachments().prefetch_related("answers")

    def abandoned(self) -> "TurnQuerySet":
        """Filter to turns whose lease expired."""
        return self.filter(state=Turn.State.ANSWERING, lease_until__lt=Now())

    def queued_longer_than(self, age: timedelta) -> "TurnQuerySet":
        return self.filter(state=Turn.State.QUEUED, queued_at__lt=Now() - age)

    def recently_finished(self) -> "TurnQuerySet":
        """Filter to turns whose published end may still have readers."""
        now = Now()
        return self.filter(finished_at__range=(now - timedelta(seconds=40), now - timedelta(seconds=5)))

    def judged(self) -> "TurnQuerySet":
        """Filter to turns that a vote covers."""
        comparable = Q(state=Answer.State.DONE) | Q(state=Answer.State.STOPPED, text__regex=r"\S")
        return self.filter(after_vote=False).exclude(answers__in=Answer.objects.exclude(comparable))

    def with_attachments(self) -> "TurnQuerySet":
        """Annotate `attached`: Attachment.facts of the files in order."""
        return self.annotate(**{"attached": Attachment.facts_of(models.OuterRef("pk"))})

    def mark_woken(self, pk: int, age: timedelta) -> bool:
        """Return False if another sweeper did."""
        return self.queued_longer_than(age).filter(pk=pk).update(queued_at=Now()) == 1


class Turn(models.Model):
    """One prompt to every side of a battle, and its entry in the work queue."""

    class State(models.TextChoices):
        QUEUED = "queued", _("queued")
        ANSWERING = "answering", _("answering")
        DONE = "done", _("done")

    battle = models.ForeignKey("Battle", models.PROTECT, related_name="turns")
    index = models.PositiveSmallIntegerField()
    prompt = models.TextField()
    after_vote = models.BooleanField(default=False)
    # Categories of the moderation rules that warned the person.
    warnings = ArrayField(models.CharField(max_length=80), default=list, db_default=[], blank=True)
    # Index of the first turn sent to the models; earlier ones do not fit their context.
    context_from = models.PositiveSmallIntegerField(default=0)
    state = models.CharField(max_length=9, choices=State, default=State.QUEUED)
    # Whether failed sides of this follow-up were retried, which is possible once.
    regenerated = models.BooleanField(default=False, db_default=False)
    attempt = models.PositiveSmallIntegerField(default=0)
    fence = models.PositiveBigIntegerField(default=0)
    lease_until = models.DateTimeField(null=True)
    queued_at = models.DateTimeField(db_default=Now())
    stop_requested_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())
    # `traceparent` of the request, below which workers trace it; empty while traces are off.
    trace = models.CharField(max_length=55, default="", db_default="", blank=True, editable=False)

    objects = TurnQuerySet.as_manager()

    if TYPE_CHECKING:
        answers: RelatedManager["Answer"]
        attachments: RelatedManager["Attachment"]
        # Set by TurnQuerySet.with_attachments only.
        attached: list["AttachedFile"]

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["battle", "index"], name="a_battle_has_each_turn_once"),
            models.CheckConstraint(
                condition=~Q(state="answering") | Q(lease_until__isnull=False),
                name="an_answering_turn_has_a_lease",
            ),
        ]
        indexes = [
            # Used by the sweeper: TurnQuerySet.abandoned and queued_longer_than.
            models.Index(fields=["state", "queued_at"], name="turns_in_work", condition=~Q(state="done")),
            # Used by TurnQuerySet.recently_finished.
            models.Index(fields=["finished_at"], name="turns_lately_finished"),
        ]

    def __str__(self) -> str:
        return f"{self.battle_id}.{self.index}"

    @property
    def is_live(self) -> bool:
        return self.state != self.State.DONE

    @property
    def is_failed_follow_up(self) -> bool:
        """Exclude stopped turns: a person must not ask again for a better answer."""
        if self.index == 0 or self.is_live or self.stop_requested_at is not None:
            return False
        return any(answer.state == Answer.State.FAILED for answer in self.answers.all())

    @property
    def can_be_regenerated(self) -> bool:
        return self.is_failed_follow_up and not self.regenerated

    def can_be_judged(self) -> bool:
        return all(answer.can_be_judged for answer in self.answers.all())


class AttachedFile(TypedDict):
    """Attachment.FACTS of one file."""

    id: str
    name: str
    media_type: str
    kind: UploadKind
    size: int
    sha256: str


class Attachment(models.Model):
    MAX_PER_TURN = 6
    # Keys of `facts` and the upload's fields.
    FACTS = {
        "id": "public_id", "name": "name", "media_type": "media_type", "kind": "kind", "size": "size",
        "sha256": "sha256",
    }  # fmt: skip

    turn = models.ForeignKey(Turn, models.PROTECT, related_name="attachments")
    upload = models.ForeignKey(Upload, models.PROTECT, related_name="attachments")
    position = models.PositiveSmallIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["turn", "upload"], name="a_file_goes_with_a_prompt_once"),
            models.UniqueConstraint(fields=["turn", "position"], name="a_prompt_has_its_files_in_order"),
            models.CheckConstraint(condition=Q(position__lt=6), name="six_files_go_with_a_prompt_at_most"),
        ]

    def __str__(self) -> str:
        return f"{self.turn_id} {self.position}"

    @staticmethod
    def facts_of(turn: models.OuterRef) -> ArraySubquery:
        """Return the facts of a turn's files in order."""
        facts = {name: f"upload__{field}" for name, field in Attachment.FACTS.items()}
        attachments = Attachment.objects.filter(turn=turn).order_by("position")
        return ArraySubquery(attachments.values_list(JSONObject(**facts)))

    @staticmethod
    def facts(upload: Upload) -> AttachedFile:
        return cast(AttachedFile, {name: getattr(upload, field) for name, field in Attachment.FACTS.items()})


class AnswerQuerySet(models.QuerySet["Answer"]):
    def in_order(self) -> "AnswerQuerySet":
        return self.order_by("turn_id", "side__position")

    def unfinished(self) -> "AnswerQuerySet":
        return self.filter(state=Answer.State.QUEUED)


class Answer(models.Model):
    """One side's answer in one turn; the text comes from exactly one call."""

    class State(models.TextChoices):
        QUEUED = "queued", _("queued")
        DONE = "done", _("done")
        STOPPED = "stopped", _("stopped")
        FAILED = "failed", _("failed")

    public_id = models.CharField(max_length=22, unique=True, default=new_public_id, editable=False)
    turn = models.ForeignKey(Turn, models.PROTECT, related_name="answers")
    side = models.ForeignKey("Side", models.PROTECT, related_name="answers")
    state = models.CharField(max_length=9, choices=State, default=State.QUEUED)
    text = models.TextField(blank=True)
    html = SafeHtmlField(blank=True)
    reasoning = models.TextField(blank=True)
    error = models.CharField(max_length=40, blank=True)
    # Whether the text names its model, so that a vote is not blind.
    leaks_identity = models.BooleanField(default=False, db_default=False)
    # The latest StarRating, in compare mode.
    stars = models.PositiveSmallIntegerField(null=True)
    # Battles of reviews show the answer of one call again. Calls are never deleted, and nothing looks answers up by it.
    call = models.ForeignKey("Call", models.PROTECT, null=True, related_name="shown_in", db_index=False)
    # Reserved with the prompt; the first call takes it over.
    charge = models.OneToOneField(Charge, models.PROTECT, null=True, related_name="answer")

    objects = AnswerQuerySet.as_manager()

    if TYPE_CHECKING:
        calls: RelatedManager["Call"]

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["turn", "side"], name="a_side_answers_a_turn_once"),
            models.CheckConstraint(condition=Q(state="failed") | Q(error=""), name="only_a_failed_answer_has_an_error"),
        ]

    def __str__(self) -> str:
        return self.public_id

    @property
    def can_be_judged(self) -> bool:
        return self.state == self.State.DONE or (self.state == self.State.STOPPED and bool(self.text.strip()))
