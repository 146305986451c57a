"""Prompts and what is said to them. Battles, sides and calls are named, not imported: they build on this."""

from datetime import timedelta
from typing import TYPE_CHECKING, TypedDict, cast

from django.contrib.postgres.expressions import ArraySubquery
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import JSONObject, Now
from django.utils.translation import gettext_lazy as _

from common.db.fields import SafeHtmlField
from common.ids import new_public_id
from common.prepared import PreparedQuery
from models_registry.models import Charge
from uploads.models import Upload
from uploads.payload_types import UploadKind

if TYPE_CHECKING:
    from django_stubs_ext.db.models.manager import RelatedManager

    from battles.models.calls import Call


class TurnQuerySet(models.QuerySet["Turn"]):
    def claim(self, pk: int, *, lease: timedelta, most_attempts: int) -> "Turn | None":
        """Let one worker win: the queued turn with its new fence and attempt, or None if there is nothing to do."""
        won = self.filter(pk=pk, state=Turn.State.QUEUED, attempt__lt=most_attempts).update(
            state=Turn.State.ANSWERING,
            attempt=F("attempt") + 1,
            fence=F("fence") + 1,
            lease_until=Now() + lease,
        )
        return _with_session(pk)[0] if won else None

    def held(self, pk: int, fence: int) -> "TurnQuerySet":
        """The turn if this fence still holds it: whoever was overtaken finds nothing to change."""
        return self.filter(pk=pk, fence=fence, state=Turn.State.ANSWERING)

    def before(self, turn: "Turn") -> "TurnQuerySet":
        """The battle's earlier turns in order, with what a model is told of them."""
        earlier = self.filter(battle=turn.battle_id, index__lt=turn.index).order_by("index")
        return earlier.with_attachments().prefetch_related("answers")

    def abandoned(self) -> "TurnQuerySet":
        """Turns whose worker stopped renewing its lease."""
        return self.filter(state=Turn.State.ANSWERING, lease_until__lt=Now())

    def waiting_longer_than(self, patience: timedelta) -> "TurnQuerySet":
        """Queued turns whose wake-up call may have been lost."""
        return self.filter(state=Turn.State.QUEUED, queued_at__lt=Now() - patience)

    def lately_finished(self) -> "TurnQuerySet":
        """Turns whose end must have been announced by now, to readers who may still listen."""
        now = Now()
        return self.filter(finished_at__range=(now - timedelta(seconds=40), now - timedelta(seconds=5)))

    def judged(self) -> "TurnQuerySet":
        """Those that a vote is on: asked before it, and every side said something a person can compare."""
        said = Q(state=Answer.State.DONE) | Q(state=Answer.State.STOPPED, text__regex=r"\S")
        return self.filter(after_vote=False).exclude(answers__in=Answer.objects.exclude(said))

    def with_attachments(self) -> "TurnQuerySet":
        """`attached`: the facts of each turn's files in order, without another query; see Attachment.facts."""
        facts = {name: f"upload__{field}" for name, field in Attachment.FACTS.items()}
        of_turn = Attachment.objects.filter(turn=models.OuterRef("pk")).order_by("position")
        return self.annotate(**{"attached": ArraySubquery(of_turn.values_list(JSONObject(**facts)))})

    def wake_again(self, pk: int, patience: timedelta) -> bool:
        """Note that a waiting turn is woken now; False when another sweeper has just done it."""
        return self.waiting_longer_than(patience).filter(pk=pk).update(queued_at=Now()) == 1


class Turn(models.Model):
    """One prompt to every side of a battle. The row carries its own queue: state, attempt, lease and fence."""

    class State(models.TextChoices):
        QUEUED = "queued", _("queued")
        ANSWERING = "answering", _("answering")
        DONE = "done", _("done")

    battle = models.ForeignKey("Battle", models.PROTECT, related_name="turns")
    index = models.PositiveSmallIntegerField()
    prompt = models.TextField()
    after_vote = models.BooleanField(default=False)
    # The categories of the moderation rules about which the person was warned.
    warnings = ArrayField(models.CharField(max_length=80), default=list, db_default=[], blank=True)
    # The first turn that the models still see; earlier ones no longer fit their context.
    context_from = models.PositiveSmallIntegerField(default=0)
    state = models.CharField(max_length=9, choices=State, default=State.QUEUED)
    # 1 once a person asked a failed follow-up again.
    round = models.PositiveSmallIntegerField(default=0, db_default=0)
    attempt = models.PositiveSmallIntegerField(default=0)
    fence = models.PositiveBigIntegerField(default=0)
    lease_until = models.DateTimeField(null=True)
    queued_at = models.DateTimeField(db_default=Now())
    stop_requested_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    objects = TurnQuerySet.as_manager()

    if TYPE_CHECKING:
        answers: RelatedManager["Answer"]
        attachments: RelatedManager["Attachment"]
        # There only where it was asked for with TurnQuerySet.with_attachments.
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
            # For the sweeper: TurnQuerySet.abandoned and waiting_longer_than.
            models.Index(fields=["state", "queued_at"], name="turns_in_work", condition=~Q(state="done")),
            # Also: TurnQuerySet.lately_finished.
            models.Index(fields=["finished_at"], name="turns_lately_finished"),
        ]

    def __str__(self) -> str:
        return f"{self.battle_id}.{self.index}"

    @property
    def is_live(self) -> bool:
        return self.state != self.State.DONE

    @property
    def is_failed_follow_up(self) -> bool:
        """Neither one that was stopped nor one that is whole: nobody may fish for a better answer."""
        if self.index == 0 or self.is_live or self.stop_requested_at is not None:
            return False
        return any(answer.state == Answer.State.FAILED for answer in self.answers.all())

    @property
    def can_be_regenerated(self) -> bool:
        return self.is_failed_follow_up and not self.round

    def can_be_judged(self) -> bool:
        """Whether every side said something a person can compare."""
        return all(answer.can_be_judged for answer in self.answers.all())


_with_session = PreparedQuery(
    lambda pk: Turn.objects.with_attachments().select_related("battle__session").filter(pk=pk), int
)


class AttachedFile(TypedDict):
    """Attachment.FACTS of one file."""

    id: str
    name: str
    media_type: str
    kind: UploadKind
    size: int
    sha256: str


class Attachment(models.Model):
    """A file that goes with a prompt to every side."""

    MOST = 6
    # What is kept at hand of an attached file (TurnQuerySet.with_attachments), by the upload's fields.
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
    def facts(upload: Upload) -> AttachedFile:
        return cast(AttachedFile, {name: getattr(upload, field) for name, field in Attachment.FACTS.items()})


class AnswerQuerySet(models.QuerySet["Answer"]):
    def in_order(self) -> "AnswerQuerySet":
        return self.order_by("turn_id", "side__position")

    def unfinished(self) -> "AnswerQuerySet":
        return self.filter(state=Answer.State.QUEUED)


class Answer(models.Model):
    """What one side says in one turn. Its text belongs to exactly one call, and is stored when it is whole."""

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
    # Whether its text says which model it is: a vote on it is not blind.
    names_itself = models.BooleanField(default=False, db_default=False)
    # The latest of its ratings, where many are compared.
    stars = models.PositiveSmallIntegerField(null=True)
    call = models.OneToOneField("Call", models.PROTECT, null=True, related_name="shown_in")
    # What was set aside for its first call when it was asked for; the call takes it over.
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
