"""Conversations in people's sidebars."""

from datetime import datetime, timedelta

from django.contrib.postgres.expressions import ArraySubquery
from django.db import models
from django.db.models import Q
from django.db.models.functions import Coalesce, Now
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from accounts.actor import Actor
from accounts.models import User, Visitor
from battles.models.battles import Battle, Side
from battles.models.turns import Turn
from common.ids import new_public_id

# For so long what somebody threw away can be had back.
SECOND_THOUGHTS = timedelta(minutes=1)


class SessionQuerySet(models.QuerySet["Session"]):
    def of(self, actor: Actor) -> "SessionQuerySet":
        """The actor's, also what they have thrown away."""
        if actor.user is not None:
            return self.filter(owner_user=actor.user)
        return self.filter(owner_visitor=actor.visitor) if actor.visitor is not None else self.none()

    def owned_by(self, actor: Actor) -> "SessionQuerySet":
        return self.of(actor).filter(discarded_at=None)

    def to_be_deleted(self) -> "SessionQuerySet":
        """Those that were thrown away for good."""
        return self.filter(discarded_at__lt=Now() - SECOND_THOUGHTS)

    def latest_first(self) -> "SessionQuerySet":
        return self.order_by("-last_active_at", "-public_id")

    def after(self, last_active_at: datetime, public_id: str) -> "SessionQuerySet":
        """What comes in latest_first() after a session of this time and id."""
        at_that_time = Q(last_active_at=last_active_at, public_id__lt=public_id)
        # Said twice: the first is what the index is read by.
        return self.filter(last_active_at__lte=last_active_at).filter(
            at_that_time | Q(last_active_at__lt=last_active_at)
        )

    def with_known_names(self) -> "SessionQuerySet":
        """`known_names`: models whose names the owner has been told, at most four; `keeps_names`: there are others."""
        blind = Battle.objects.filter(session=models.OuterRef("pk"), mode=Battle.Mode.BLIND)
        told = ~Q(battle__mode=Battle.Mode.BLIND) | Q(battle__vote__isnull=False)
        of_session = Side.objects.filter(told, battle__session=models.OuterRef("pk"))
        names = of_session.order_by("model__name").values_list("model__name", flat=True).distinct()
        return self.annotate(
            known_names=ArraySubquery(names[:4]),
            keeps_names=models.Exists(blind.filter(vote=None, voided_at=None)),
        )

    def with_battle_count(self) -> "SessionQuerySet":
        """`battle_count`, counted for those that are read, not for all before the first page of them."""
        of_session = Battle.objects.filter(session=models.OuterRef("pk")).order_by().values("session")
        return self.annotate(battle_count=Coalesce(models.Subquery(of_session.values(n=models.Count("pk"))), 0))

    def search(self, words: str) -> "SessionQuerySet":
        """Sessions whose title or prompts hold `words`."""
        if not words:
            return self
        in_prompts = Turn.objects.filter(battle__session=models.OuterRef("pk"), prompt__icontains=words)
        return self.filter(Q(title__icontains=words) | models.Exists(in_prompts))

    def with_upload(self, upload_id: str) -> "SessionQuerySet":
        """Sessions in which this file went with a prompt."""
        used = Turn.objects.filter(battle__session=models.OuterRef("pk"), attachments__upload__public_id=upload_id)
        return self.filter(models.Exists(used))


class Session(models.Model):
    """A conversation in somebody's sidebar; it holds battles. A deleted one has no owner and no text."""

    public_id = models.CharField(max_length=22, unique=True, default=new_public_id, editable=False)
    owner_user = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="sessions")
    owner_visitor = models.ForeignKey(Visitor, models.SET_NULL, null=True, blank=True, related_name="sessions")
    title = models.CharField(_("title"), max_length=120, blank=True)
    archived = models.BooleanField(default=False)
    # When its owner threw it away; a little later the sweep deletes it.
    discarded_at = models.DateTimeField(null=True, blank=True)
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
            # Both for the lists of sessions: SessionQuerySet.latest_first.
            models.Index(fields=["owner_user", "-last_active_at"], name="sessions_of_a_user"),
            models.Index(fields=["owner_visitor", "-last_active_at"], name="sessions_of_a_visitor"),
            # For the sweep: SessionQuerySet.to_be_deleted.
            models.Index(fields=["discarded_at"], name="discarded_sessions", condition=~Q(discarded_at=None)),
        ]

    def __str__(self) -> str:
        return self.title or self.public_id

    def get_absolute_url(self) -> str:
        return reverse("battles:session", args=[self.public_id])

    @property
    def owner(self) -> User | Visitor | None:
        return self.owner_user or self.owner_visitor

    @property
    def person(self) -> str:
        """Its owner's Actor.key; empty when it has none any more."""
        if self.owner_user_id is not None:
            return f"user:{self.owner_user_id}"
        return f"visitor:{self.owner_visitor_id}" if self.owner_visitor_id is not None else ""
