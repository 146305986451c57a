from datetime import datetime, timedelta

import pgtrigger
from django.conf import settings
from django.contrib.postgres.expressions import ArraySubquery
from django.db import models
from django.db.models import Q
from django.db.models.functions import Coalesce, Now
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from accounts.actor import Actor
from accounts.models import Team, User, Visitor
from accounts.teams.roles import Right, teams_with
from battles.models.battles import Battle, Side, names_are_shown
from battles.models.turns import Turn
from common.ids import new_public_id

# Discarded sessions can be restored for this time.
UNDO_WINDOW = timedelta(minutes=1)


class SessionQuerySet(models.QuerySet["Session"]):
    def owned_or_discarded_by(self, actor: Actor) -> "SessionQuerySet":
        if actor.user is not None:
            own = self.filter(owner_user=actor.user)
            return own if actor.token is None else own.filter(team=actor.place_id)
        return self.filter(owner_visitor=actor.visitor) if actor.visitor is not None else self.none()

    def owned_by(self, actor: Actor) -> "SessionQuerySet":
        return self.owned_or_discarded_by(actor).filter(discarded_at=None)

    def in_place(self, team: Team | None) -> "SessionQuerySet":
        return self.filter(team=team)

    def shared_with(self, team: Team) -> "SessionQuerySet":
        """Filter to the sessions that members share with their team."""
        return self.filter(team=team, is_shared=True, discarded_at=None).exclude(owner_user=None)

    def readable_by_staff(self) -> "SessionQuerySet":
        """Filter to sessions whose texts the administration may show."""
        return self if settings.ARENA_OPERATORS_READ_TEAMS else self.filter(team=None)

    def due_for_deletion(self) -> "SessionQuerySet":
        return self.filter(discarded_at__lt=Now() - UNDO_WINDOW)

    def latest_first(self) -> "SessionQuerySet":
        return self.order_by("-last_active_at", "-public_id")

    def after(self, last_active_at: datetime, public_id: str) -> "SessionQuerySet":
        """Sessions that follow this time and id in latest_first()."""
        at_that_time = Q(last_active_at=last_active_at, public_id__lt=public_id)
        # The first filter is redundant, but lets PostgreSQL use the index.
        return self.filter(last_active_at__lte=last_active_at).filter(
            at_that_time | Q(last_active_at__lt=last_active_at)
        )

    def with_revealed_names(self) -> "SessionQuerySet":
        """Annotate revealed_names (at most four models whose names the owner knows) and has_hidden_names."""
        blind = Battle.objects.filter(session=models.OuterRef("pk"), mode__in=Battle.BLIND_MODES)
        hidden = blind.filter(~names_are_shown(), voided_at=None).values(found=models.Value(True))[:1]
        of_session = Side.objects.filter(names_are_shown("battle__"), battle__session=models.OuterRef("pk"))
        names = of_session.order_by("model__name").values_list("model__name", flat=True).distinct()
        return self.annotate(
            revealed_names=ArraySubquery(names[:4]),
            # Not Exists(): for an owner of thousands of sessions, PostgreSQL would hash the battles of the whole arena.
            has_hidden_names=Coalesce(models.Subquery(hidden), False),
        )

    def with_battle_count(self) -> "SessionQuerySet":
        """Annotate battle_count by a subquery, which counts only the page's sessions."""
        of_session = Battle.objects.filter(session=models.OuterRef("pk")).order_by().values("session")
        return self.annotate(battle_count=Coalesce(models.Subquery(of_session.values(n=models.Count("pk"))), 0))

    def search(self, words: str) -> "SessionQuerySet":
        if not words:
            return self
        in_prompts = Turn.objects.filter(battle__session=models.OuterRef("pk"), prompt__icontains=words)
        return self.filter(Q(title__icontains=words) | models.Exists(in_prompts))

    def with_upload(self, upload_id: str) -> "SessionQuerySet":
        used = Turn.objects.filter(battle__session=models.OuterRef("pk"), attachments__upload__public_id=upload_id)
        return self.filter(models.Exists(used))


class Session(models.Model):
    """A list of battles in a person's sidebar. A deleted session keeps its row without owner and text."""

    public_id = models.CharField(max_length=22, unique=True, default=new_public_id, editable=False)
    owner_user = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="sessions")
    owner_visitor = models.ForeignKey(Visitor, models.SET_NULL, null=True, blank=True, related_name="sessions")
    # The place in which the session was begun, for good; NULL: personal.
    team = models.ForeignKey(Team, models.PROTECT, null=True, blank=True, related_name="sessions", db_index=False)
    # Whether the team's members may read it.
    is_shared = models.BooleanField(default=False, db_default=False)
    title = models.CharField(_("title"), max_length=120, blank=True)
    archived = models.BooleanField(default=False)
    # Set by its owner; the sweep deletes the session after UNDO_WINDOW.
    discarded_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now())
    last_active_at = models.DateTimeField(db_default=Now())

    objects = SessionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(owner_user=None) | Q(owner_visitor=None), name="a_session_has_one_owner_at_most"
            ),
            models.CheckConstraint(condition=Q(team=None) | Q(owner_visitor=None), name="a_visitor_is_in_no_team"),
            models.CheckConstraint(
                condition=Q(is_shared=False) | Q(team__isnull=False), name="a_shared_session_is_a_teams"
            ),
        ]
        indexes = [
            # Both for the lists of sessions: SessionQuerySet.latest_first.
            models.Index(fields=["owner_user", "-last_active_at"], name="sessions_of_a_user"),
            models.Index(fields=["owner_visitor", "-last_active_at"], name="sessions_of_a_visitor"),
            # Used by the sweep: SessionQuerySet.due_for_deletion.
            models.Index(fields=["discarded_at"], name="discarded_sessions", condition=~Q(discarded_at=None)),
            # Used by the team's page: SessionQuerySet.shared_with.
            models.Index(
                fields=["team", "-last_active_at"], name="sessions_of_a_team", condition=Q(team__isnull=False)
            ),
        ]
        triggers = [pgtrigger.ReadOnly(name="a_session_stays_in_its_place", fields=["team"])]

    def __str__(self) -> str:
        """Return the title, but of a team's session, for the administration, its id."""
        return self.title if self.title and self.team_id is None else self.public_id

    def get_absolute_url(self) -> str:
        return reverse("battles:session", args=[self.public_id])

    @property
    def is_readable_by_staff(self) -> bool:
        return self.team_id is None or settings.ARENA_OPERATORS_READ_TEAMS

    def is_left_by(self, actor: Actor, *, asks_guests: bool = False) -> bool:
        """Return whether it is of a team that the person may no longer use. asks_guests: true of reviews."""
        usable = actor.memberships if asks_guests else teams_with(actor.memberships, Right.USE)
        return self.team_id is not None and self.team_id not in usable

    @property
    def owner(self) -> User | Visitor | None:
        return self.owner_user or self.owner_visitor

    @property
    def person(self) -> str:
        """The owner's Actor.key; "" for a deleted session."""
        if self.owner_user_id is not None:
            return f"user:{self.owner_user_id}"
        return f"visitor:{self.owner_visitor_id}" if self.owner_visitor_id is not None else ""
