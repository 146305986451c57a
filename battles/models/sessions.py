"""Conversations in people's sidebars."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from accounts.actor import Actor
from accounts.models import User, Visitor
from battles.models.turns import Turn
from common.ids import new_public_id


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
