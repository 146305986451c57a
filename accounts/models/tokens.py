import hashlib
import secrets
from datetime import datetime

import pgtrigger
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.models.teams import Team, TeamMember
from accounts.models.users import User
from common.ids import new_public_id


class Scope(models.TextChoices):
    READ = "read", _("read")
    BATTLE = "battle", _("battle")
    VOTE = "vote", _("vote")
    BENCHMARK = "benchmark", _("benchmark")
    EXPORT = "export", _("export")
    GATEWAY = "gateway", _("gateway")
    METRICS = "metrics", _("figures over time")


class ApiTokenQuerySet(models.QuerySet["ApiToken"]):
    def usable(self) -> "ApiTokenQuerySet":
        """Filter tokens that work: those of a team while their owner is in it."""
        not_expired = models.Q(expires_at=None) | models.Q(expires_at__gt=Now())
        of_place = models.Q(team=None) | models.Exists(
            TeamMember.objects.active().filter(team=models.OuterRef("team"), user=models.OuterRef("user"))
        )
        return self.filter(not_expired, of_place, revoked_at=None, user__is_active=True)

    def held_by(self, user: User) -> "ApiTokenQuerySet":
        """Return tokens that are not revoked, also expired ones, newest first."""
        return self.filter(user=user, revoked_at=None).order_by("-pk")


class ApiToken(models.Model):
    """Only the digest is stored."""

    PREFIX = "arena_"

    public_id = models.CharField(max_length=22, unique=True, default=new_public_id, editable=False)
    user = models.ForeignKey(User, models.CASCADE, related_name="api_tokens")
    # The place in which the token acts, for good; NULL: personal.
    team = models.ForeignKey(Team, models.CASCADE, null=True, blank=True, related_name="api_tokens")
    name = models.CharField(max_length=100)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    last_four = models.CharField(max_length=4, editable=False)
    scopes = ArrayField(models.CharField(max_length=20, choices=Scope.choices))
    # The gateway stores texts of exchanges, and answers identical requests at temperature 0 from its cache.
    keeps_texts = models.BooleanField(_("keep texts"), default=False, db_default=False)
    caches_answers = models.BooleanField(_("answer repeated requests from a cache"), default=False, db_default=False)
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = ApiTokenQuerySet.as_manager()

    class Meta:
        verbose_name = _("API token")
        verbose_name_plural = _("API tokens")
        triggers = [pgtrigger.ReadOnly(name="a_token_stays_in_its_place", fields=["team"])]

    def __str__(self) -> str:
        return f"{self.name} (…{self.last_four})"

    @staticmethod
    def digest_of(token: str) -> str:
        return hashlib.sha256(token.encode()).hexdigest()

    @classmethod
    def issue(
        cls,
        *,
        user: User,
        name: str,
        scopes: list[Scope],
        expires_at: datetime | None = None,
        keeps_texts: bool = False,
        caches_answers: bool = False,
        team: Team | None = None,
    ) -> tuple["ApiToken", str]:
        token = cls.PREFIX + secrets.token_urlsafe(32)
        row = cls.objects.create(
            user=user, name=name, scopes=scopes, expires_at=expires_at, keeps_texts=keeps_texts,
            caches_answers=caches_answers, team=team, digest=cls.digest_of(token), last_four=token[-4:],
        )  # fmt: skip
        return row, token

    @property
    def has_expired(self) -> bool:
        return self.expires_at is not None and self.expires_at <= timezone.now()

    def revoke(self) -> None:
        self.revoked_at = timezone.now()
        self.save(update_fields=["revoked_at"])


class IdempotencyKey(models.Model):
    """Result of an API POST, kept for 24 hours for repeated requests."""

    actor = models.CharField(max_length=40)
    key = models.CharField(max_length=255)
    request_hash = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(null=True)
    body = models.JSONField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.UniqueConstraint(fields=["actor", "key"], name="an_actor_uses_an_idempotency_key_once")]
        # Used by accounts.tasks.forget_old_idempotency_keys.
        indexes = [models.Index(fields=["created_at"], name="idempotency_key_age")]

    def __str__(self) -> str:
        return f"{self.actor} {self.key}"
