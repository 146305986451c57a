"""What happens in the arena: sessions, battles, sides, turns, answers, calls and votes."""

from datetime import timedelta
from typing import TYPE_CHECKING

import pgtrigger
from django.contrib.postgres.fields import ArrayField
from django.db import connection, models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from accounts.actor import Actor
from accounts.models import User, Visitor
from common.fields import SafeHtmlField
from common.ids import new_public_id
from models_registry.health import PROBE_LEASE
from models_registry.models import Charge, LanguageModel, Price

if TYPE_CHECKING:
    from django_stubs_ext.db.models.manager import RelatedManager


class SessionQuerySet(models.QuerySet["Session"]):
    def owned_by(self, actor: Actor) -> "SessionQuerySet":
        if actor.user is not None:
            return self.filter(owner_user=actor.user)
        return self.filter(owner_visitor=actor.visitor) if actor.visitor is not None else self.none()

    def for_sidebar(self, actor: Actor) -> "SessionQuerySet":
        return self.owned_by(actor).filter(archived=False).order_by("-last_active_at")

    def search(self, words: str) -> "SessionQuerySet":
        """Sessions whose title or prompts hold `words`."""
        if not words:
            return self
        in_prompts = Turn.objects.filter(battle__session=models.OuterRef("pk"), prompt__icontains=words)
        return self.filter(Q(title__icontains=words) | models.Exists(in_prompts))


class Session(models.Model):
    """A conversation in somebody's sidebar; it holds battles. A deleted one has no owner and no text."""

    public_id = models.CharField(max_length=22, unique=True, default=new_public_id, editable=False)
    owner_user = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="sessions")
    owner_visitor = models.ForeignKey(Visitor, models.SET_NULL, null=True, blank=True, related_name="sessions")
    title = models.CharField(_("title"), max_length=120, blank=True)
    archived = models.BooleanField(default=False)
    created_at = models.DateTimeField(db_default=Now())
    last_active_at = models.DateTimeField(db_default=Now())

    objects = SessionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(owner_user=None) | Q(owner_visitor=None), name="a_session_has_one_owner_at_most"
            )
        ]
        indexes = [
            # Both for the sidebar: SessionQuerySet.for_sidebar.
            models.Index(fields=["owner_user", "-last_active_at"], name="sessions_of_a_user"),
            models.Index(fields=["owner_visitor", "-last_active_at"], name="sessions_of_a_visitor"),
        ]

    def __str__(self) -> str:
        return self.title or self.public_id

    def get_absolute_url(self) -> str:
        return reverse("battles:session", args=[self.public_id])

    @property
    def person(self) -> str:
        """Its owner's Actor.key; empty when it has none any more."""
        if self.owner_user_id is not None:
            return f"user:{self.owner_user_id}"
        return f"visitor:{self.owner_visitor_id}" if self.owner_visitor_id is not None else ""


class BattleQuerySet(models.QuerySet["Battle"]):
    def owned_by(self, actor: Actor) -> "BattleQuerySet":
        if actor.user is not None:
            return self.filter(session__owner_user=actor.user)
        return self.filter(session__owner_visitor=actor.visitor) if actor.visitor is not None else self.none()

    def for_showing(self) -> "BattleQuerySet":
        """Everything a battle shows, in a fixed number of queries."""
        return self.select_related("session", "vote").prefetch_related(
            models.Prefetch("sides", Side.objects.select_related("model")),
            "sides__model__prices",
            models.Prefetch("turns", Turn.objects.order_by("index")),
            models.Prefetch("turns__answers", Answer.objects.in_order().select_related("side", "call")),
        )


class Battle(models.Model):
    """Two models, one conversation each, and at most one vote."""

    class Mode(models.TextChoices):
        BLIND = "blind", _("blind")

    public_id = models.CharField(max_length=22, unique=True, default=new_public_id, editable=False)
    session = models.ForeignKey(Session, models.PROTECT, related_name="battles")
    mode = models.CharField(max_length=12, choices=Mode, default=Mode.BLIND)
    categories = ArrayField(models.CharField(max_length=40), default=list, blank=True)
    # The chance with which the sampler drew this unordered pair; after a redraw, the final pair's.
    propensity = models.FloatField()
    voided_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now())

    objects = BattleQuerySet.as_manager()

    if TYPE_CHECKING:
        sides: RelatedManager["Side"]
        turns: RelatedManager["Turn"]
        vote: "Vote"

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(propensity__gt=0, propensity__lte=1), name="a_propensity_is_a_probability"
            )
        ]

    def __str__(self) -> str:
        return self.public_id

    def get_absolute_url(self) -> str:
        return f"{self.session.get_absolute_url()}#battle-{self.public_id}"

    @property
    def vote_or_none(self) -> "Vote | None":
        return getattr(self, "vote", None)

    @property
    def is_void(self) -> bool:
        return self.voided_at is not None


class Position(models.TextChoices):
    LEFT = "left", _("left")
    RIGHT = "right", _("right")


class Side(models.Model):
    """A model's place in a battle. A silent redraw changes the model; its calls remember the one before."""

    battle = models.ForeignKey(Battle, models.PROTECT, related_name="sides")
    position = models.CharField(max_length=5, choices=Position)
    model = models.ForeignKey(LanguageModel, models.PROTECT, related_name="+")
    redrawn = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["battle", "position"], name="a_battle_has_each_side_once"),
            models.UniqueConstraint(fields=["battle", "model"], name="a_model_meets_itself_in_no_battle"),
        ]

    def __str__(self) -> str:
        return f"{self.battle_id} {self.position}"


class TurnQuerySet(models.QuerySet["Turn"]):
    def claim(self, pk: int, *, lease: timedelta, most_attempts: int) -> "Turn | None":
        """Let one worker win: the queued turn with its new fence and attempt, or None if there is nothing to do."""
        won = self.filter(pk=pk, state=Turn.State.QUEUED, attempt__lt=most_attempts).update(
            state=Turn.State.ANSWERING,
            attempt=F("attempt") + 1,
            fence=F("fence") + 1,
            lease_until=Now() + lease,
        )
        return self.select_related("battle").get(pk=pk) if won else None

    def held(self, pk: int, fence: int) -> "TurnQuerySet":
        """The turn if this fence still holds it: whoever was overtaken finds nothing to change."""
        return self.filter(pk=pk, fence=fence, state=Turn.State.ANSWERING)

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

    def wake_again(self, pk: int, patience: timedelta) -> bool:
        """Note that a waiting turn is woken now; False when another sweeper has just done it."""
        return self.waiting_longer_than(patience).filter(pk=pk).update(queued_at=Now()) == 1


class Turn(models.Model):
    """One prompt to every side of a battle. The row carries its own queue: state, attempt, lease and fence."""

    class State(models.TextChoices):
        QUEUED = "queued", _("queued")
        ANSWERING = "answering", _("answering")
        DONE = "done", _("done")

    battle = models.ForeignKey(Battle, models.PROTECT, related_name="turns")
    index = models.PositiveSmallIntegerField()
    prompt = models.TextField()
    after_vote = models.BooleanField(default=False)
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
    side = models.ForeignKey(Side, models.PROTECT, related_name="answers")
    state = models.CharField(max_length=9, choices=State, default=State.QUEUED)
    text = models.TextField(blank=True)
    html = SafeHtmlField(blank=True)
    reasoning = models.TextField(blank=True)
    error = models.CharField(max_length=40, blank=True)
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


class CallQuerySet(models.QuerySet["Call"]):
    def unfinished(self) -> "CallQuerySet":
        return self.filter(state__in=[Call.State.WAITING, Call.State.RUNNING])

    def holding_slots(self) -> "CallQuerySet":
        """Those that count against `calls_at_once`: under way, and their worker is heard."""
        is_held = Q(answer__turn__fence=F("fence"), answer__turn__lease_until__gt=Now())
        is_probe = Q(answer=None, started_at__gt=Now() - PROBE_LEASE)
        return self.filter(is_held | is_probe, state=Call.State.RUNNING)

    def abandoned_probes(self) -> "CallQuerySet":
        return self.filter(state=Call.State.RUNNING, answer=None, started_at__lte=Now() - PROBE_LEASE)


class Call(models.Model):
    """One attempt to get one answer from one model, whatever came of it: the interaction log.

    A probe is a call without an answer, so that its slot, its money and its outcome go the way of all calls.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        RUNNING = "running", _("running")
        DONE = "done", _("done")
        STOPPED = "stopped", _("stopped")
        FAILED = "failed", _("failed")
        LOST = "lost", _("lost")

    answer = models.ForeignKey(Answer, models.PROTECT, null=True, related_name="calls")
    model = models.ForeignKey(LanguageModel, models.PROTECT, related_name="+")
    attempt = models.PositiveSmallIntegerField()
    fence = models.PositiveBigIntegerField()
    state = models.CharField(max_length=7, choices=State, default=State.RUNNING)
    # The parameters that were sent, and which turns' messages: their texts are in Turn and Answer.
    request = models.JSONField(default=dict)
    price = models.ForeignKey(Price, models.PROTECT, null=True, related_name="+")
    charge = models.OneToOneField(Charge, models.PROTECT, null=True, related_name="call")
    started_at = models.DateTimeField(db_default=Now())
    first_token_ms = models.PositiveIntegerField(null=True)
    total_ms = models.PositiveIntegerField(null=True)
    prompt_tokens = models.PositiveIntegerField(null=True)
    completion_tokens = models.PositiveIntegerField(null=True)
    # The part of completion_tokens that is not the answer; many providers charge for it without showing it.
    reasoning_tokens = models.PositiveIntegerField(null=True)
    tokens_estimated = models.BooleanField(default=False)
    cost = models.DecimalField(max_digits=14, decimal_places=8, null=True)
    finish_reason = models.CharField(max_length=40, blank=True)
    error = models.CharField(max_length=40, blank=True)
    provider_request_id = models.CharField(max_length=200, blank=True)

    objects = CallQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [models.UniqueConstraint(fields=["answer", "fence", "model"], name="a_claim_calls_a_model_once")]
        indexes = [
            # For battles.call_statistics.
            models.Index(fields=["model", "started_at"], name="calls_of_a_model"),
            # For CallQuerySet.holding_slots and abandoned_probes.
            models.Index(fields=["model"], name="calls_under_way", condition=Q(state="running")),
        ]

    def __str__(self) -> str:
        return f"call {self.pk}"

    @property
    def answer_tokens(self) -> int:
        """Without the reasoning before it."""
        return (self.completion_tokens or 0) - (self.reasoning_tokens or 0)


class VoteCounterManager(models.Manager["VoteCounter"]):
    def take(self) -> int:
        """The next number. Its row stays locked until COMMIT, so take it as late as possible."""
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO battles_votecounter AS counter (id, last_order) VALUES (1, 1) "
                "ON CONFLICT (id) DO UPDATE SET last_order = counter.last_order + 1 RETURNING last_order"
            )
            return int(cursor.fetchone()[0])


class VoteCounter(models.Model):
    """The one row whose lock puts votes in a gapless order."""

    last_order = models.PositiveBigIntegerField(default=0)

    objects = VoteCounterManager()

    def __str__(self) -> str:
        return str(self.last_order)


VOTE_FACTS = ["battle", "choice", "model_left", "model_right", "created_at", "order", "style", "turn_count"]


class VoteQuerySet(models.QuerySet["Vote"]):
    def pending(self) -> "VoteQuerySet":
        return self.filter(processing=Vote.Processing.PENDING)

    def owned_by(self, actor: Actor) -> "VoteQuerySet":
        return self.filter(battle__in=Battle.objects.owned_by(actor))


class Vote(models.Model):
    """A person's verdict on a battle. Its facts never change: the database refuses."""

    class Choice(models.TextChoices):
        LEFT = "left", _("left is better")
        RIGHT = "right", _("right is better")
        TIE = "tie", _("tie")
        BOTH_BAD = "both_bad", _("both are bad")

    class Processing(models.TextChoices):
        PENDING = "pending", _("pending")
        PROCESSED = "processed", _("processed")
        EXCLUDED = "excluded", _("excluded")
        RETRACTED = "retracted", _("retracted")

    class ExcludedReason(models.TextChoices):
        IDENTITY_LEAK = "identity_leak", _("a model named itself")
        MODERATION = "moderation", _("moderation")
        ANOMALY = "anomaly", _("anomaly")
        DUPLICATE_PROMPT = "duplicate_prompt", _("duplicate prompt")
        INCOMPLETE = "incomplete", _("an answer was stopped")
        OPERATOR = "operator", _("operator")

    battle = models.OneToOneField(Battle, models.PROTECT, related_name="vote")
    choice = models.CharField(max_length=8, choices=Choice)
    model_left = models.ForeignKey(LanguageModel, models.PROTECT, related_name="+")
    model_right = models.ForeignKey(LanguageModel, models.PROTECT, related_name="+")
    order = models.PositiveBigIntegerField(unique=True)
    turn_count = models.PositiveSmallIntegerField()
    # Per side: tokens, headings, bold runs and list items of the answers that were voted on.
    style = models.JSONField(default=dict)
    created_at = models.DateTimeField(db_default=Now())

    # What may change: whose it is, what it is filed under, and whether it counts.
    voter = models.CharField(max_length=40, db_index=True)
    processing = models.CharField(max_length=9, choices=Processing, default=Processing.PENDING)
    excluded_reason = models.CharField(max_length=16, choices=ExcludedReason, blank=True)
    tags = models.JSONField(default=dict, blank=True)
    comment = models.TextField(blank=True, max_length=2000)

    objects = VoteQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=~Q(model_left=F("model_right")), name="a_vote_is_about_two_different_models"
            ),
        ]
        indexes = [
            # For leaderboard.aggregation: the votes not yet in the tallies.
            models.Index(fields=["order"], name="votes_pending", condition=Q(processing="pending")),
            # Also: how many do not count, by reason.
            models.Index(fields=["excluded_reason"], name="votes_set_aside", condition=~Q(excluded_reason="")),
        ]
        triggers = [
            pgtrigger.ReadOnly(name="facts_of_a_vote_never_change", fields=VOTE_FACTS),
            pgtrigger.Protect(name="a_vote_is_never_deleted", operation=pgtrigger.Delete),
        ]

    def __str__(self) -> str:
        return f"vote {self.order}"

    @property
    def counts(self) -> bool:
        return self.excluded_reason in ("", self.ExcludedReason.ANOMALY)
