import hashlib
import secrets
from datetime import datetime, timedelta
from typing import Any, ClassVar

import pgtrigger
from django.contrib.auth.models import AbstractUser, Group, UserManager
from django.contrib.postgres.fields import ArrayField
from django.contrib.sessions.models import Session as BrowserSession
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from common.db.triggers import forbid_truncate
from common.ids import new_public_id


class EmailUserManager(UserManager["User"]):
    def create_user(self, email: str, password: str | None = None, **extra: Any) -> "User":  # type: ignore[override]
        user = self.model(email=self.normalize_email(email).lower(), **extra)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **extra: Any) -> "User":  # type: ignore[override]
        """Confirm the address: signing in needs no mail server."""
        from allauth.account.models import EmailAddress  # needs the user model

        user = self.create_user(email, password, is_staff=True, is_superuser=True, **extra)
        EmailAddress.objects.create(user=user, email=user.email, primary=True, verified=True)
        return user

    def get_by_natural_key(self, username: str | None) -> "User":
        return self.get(email__iexact=username)


class User(AbstractUser):
    username = None  # type: ignore[assignment]
    email = models.EmailField(_("e-mail address"), unique=True)

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []
    objects: ClassVar[EmailUserManager] = EmailUserManager()

    def __str__(self) -> str:
        return self.email


class SignInQuerySet(models.QuerySet["SignIn"]):
    def active(self) -> "SignInQuerySet":
        return self.filter(session__expire_date__gt=Now())


class SignIn(models.Model):
    """Member's browser; deleted with its session. Stores no IP address."""

    public_id = models.CharField(max_length=22, unique=True, default=new_public_id, editable=False)
    user = models.ForeignKey(User, models.CASCADE, related_name="sign_ins")
    session = models.OneToOneField(BrowserSession, models.CASCADE, related_name="sign_in")
    # From accounts.sign_in.user_agents: "Firefox", "Windows"; empty when unknown.
    browser = models.CharField(max_length=30, blank=True)
    system = models.CharField(max_length=30, blank=True)
    signed_in_at = models.DateTimeField(db_default=Now())
    last_seen_at = models.DateTimeField()
    # URL of the issuer that signed the person in, and its session's id, by which it can sign the browser out.
    issuer = models.CharField(max_length=200, blank=True, db_default="", editable=False)
    issuer_session = models.CharField(max_length=255, blank=True, db_default="", editable=False)

    objects = SignInQuerySet.as_manager()

    def __str__(self) -> str:
        if self.browser and self.system:
            return gettext("%(browser)s on %(system)s") % {"browser": self.browser, "system": self.system}
        return self.browser or self.system or gettext("A browser of an unknown kind")

    @property
    def was_seen_within_the_hour(self) -> bool:
        return timezone.now() - self.last_seen_at < timedelta(hours=1)


class Visitor(models.Model):
    """Person without an account, identified by a random key in a signed cookie."""

    key = models.CharField(max_length=22, unique=True, default=new_public_id)
    created_at = models.DateTimeField(db_default=Now())
    # common.client_ip.network_hash at the first visit; moderators ban networks by it.
    network = models.CharField(max_length=32, blank=True, db_default="", editable=False)
    claimed_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="visitors")

    def __str__(self) -> str:
        return f"visitor {self.pk}"


class BanQuerySet(models.QuerySet["Ban"]):
    def in_force(self) -> "BanQuerySet":
        not_over = models.Q(expires_at=None) | models.Q(expires_at__gt=Now())
        return self.filter(not_over, lifted_at=None)


class Ban(models.Model):
    """Block of a person or network, which may still read."""

    user = models.ForeignKey(User, models.CASCADE, null=True, blank=True, related_name="bans")
    visitor = models.ForeignKey(Visitor, models.CASCADE, null=True, blank=True, related_name="bans")
    network = models.CharField(
        max_length=32, blank=True, help_text=_("As shown on a visitor's page. Blocks every visitor and member in it.")
    )
    reason = models.CharField(max_length=500, help_text=_("Shown to the blocked person."))
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, editable=False, related_name="bans_made")
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField(null=True, blank=True, help_text=_("Empty: until it is lifted."))
    lifted_at = models.DateTimeField(null=True, editable=False)
    lifted_by = models.ForeignKey(User, models.SET_NULL, null=True, editable=False, related_name="bans_lifted")

    objects = BanQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(user__isnull=False, visitor=None, network="")
                | models.Q(user=None, visitor__isnull=False, network="")
                | (models.Q(user=None, visitor=None) & ~models.Q(network="")),
                name="a_ban_is_of_one_person_or_one_network",
                violation_error_message=_("Name one of them: a user, a visitor, or a network."),
            )
        ]

    def __str__(self) -> str:
        return f"ban {self.pk}"

    @property
    def target(self) -> str:
        """Subject for the audit log; omits e-mail addresses."""
        if self.user_id is not None:
            return f"user {self.user_id}"
        return f"visitor {self.visitor_id}" if self.visitor_id is not None else f"network {self.network}"


class InvitationQuerySet(models.QuerySet["Invitation"]):
    def open(self) -> "InvitationQuerySet":
        return self.filter(used_at=None, revoked_at=None, expires_at__gt=Now())


class Invitation(models.Model):
    """Link for one sign-up. Only the token's digest is stored."""

    email = models.EmailField(_("for"), blank=True, help_text=_("Empty: anyone with the link can use it."))
    digest = models.CharField(max_length=64, unique=True, editable=False)
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, editable=False, related_name="invitations_made")
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField(_("opens the door until"))
    used_at = models.DateTimeField(null=True, editable=False)
    used_by = models.OneToOneField(User, models.SET_NULL, null=True, editable=False, related_name="invitation")
    revoked_at = models.DateTimeField(null=True, editable=False)

    objects = InvitationQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(used_at=None) | models.Q(revoked_at=None),
                name="a_revoked_invitation_was_used_by_nobody",
            )
        ]

    def __str__(self) -> str:
        return f"invitation {self.pk}"

    @staticmethod
    def digest_of(token: str) -> str:
        return hashlib.sha256(token.encode()).hexdigest()

    @classmethod
    def issue(cls, *, email: str, expires_at: datetime, created_by: User) -> tuple["Invitation", str]:
        token = secrets.token_urlsafe(32)
        digest = cls.digest_of(token)
        return cls.objects.create(email=email, expires_at=expires_at, created_by=created_by, digest=digest), token


class Scope(models.TextChoices):
    READ = "read", _("read")
    BATTLE = "battle", _("battle")
    VOTE = "vote", _("vote")
    BENCHMARK = "benchmark", _("benchmark")
    EXPORT = "export", _("export")
    GATEWAY = "gateway", _("gateway")


class ApiTokenQuerySet(models.QuerySet["ApiToken"]):
    def usable(self) -> "ApiTokenQuerySet":
        not_expired = models.Q(expires_at=None) | models.Q(expires_at__gt=Now())
        return self.filter(not_expired, revoked_at=None, user__is_active=True)

    def held_by(self, user: User) -> "ApiTokenQuerySet":
        """Return tokens that are not revoked, also expired ones, newest first."""
        return self.filter(user=user, revoked_at=None).order_by("-pk")


class ApiToken(models.Model):
    """Only the digest is stored."""

    PREFIX = "arena_"

    public_id = models.CharField(max_length=22, unique=True, default=new_public_id, editable=False)
    user = models.ForeignKey(User, models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=100)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    last_four = models.CharField(max_length=4, editable=False)
    scopes = ArrayField(models.CharField(max_length=20, choices=Scope.choices))
    # For the gateway: store texts of exchanges; answer identical requests at temperature 0 from the cache.
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
    ) -> tuple["ApiToken", str]:
        token = cls.PREFIX + secrets.token_urlsafe(32)
        row = cls.objects.create(
            user=user, name=name, scopes=scopes, expires_at=expires_at, keeps_texts=keeps_texts,
            caches_answers=caches_answers, digest=cls.digest_of(token), last_four=token[-4:],
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
        # For accounts.tasks.forget_old_idempotency_keys.
        indexes = [models.Index(fields=["created_at"], name="idempotency_key_age")]

    def __str__(self) -> str:
        return f"{self.actor} {self.key}"


class Limit(models.Model):
    """Replaces the rate in settings.ARENA_LIMITS."""

    action = models.CharField(max_length=10)
    who = models.CharField(max_length=10)
    # “30/hour,150/day”, or “off”.
    rate = models.CharField(max_length=100)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name = _("limit")
        verbose_name_plural = _("limits")
        constraints = [models.UniqueConstraint(fields=["action", "who"], name="each_action_of_somebody_has_one_limit")]

    def __str__(self) -> str:
        return f"{self.action} {self.who}"


class LimitGroup(models.Model):
    """Networks or members with wider limits, such as a class behind one address."""

    TIMES = (2, 100)

    name = models.CharField(_("name"), max_length=100, unique=True)
    # Written by accounts.limiting.networks.parse_network.
    networks = ArrayField(models.CharField(max_length=43), verbose_name=_("networks"), default=list, blank=True)
    members = models.ForeignKey(
        Group, models.CASCADE, null=True, blank=True, related_name="+", verbose_name=_("group of members")
    )
    times = models.PositiveSmallIntegerField(
        _("times"), validators=[MinValueValidator(TIMES[0]), MaxValueValidator(TIMES[1])]
    )
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name = _("network or group with wider limits")
        verbose_name_plural = _("networks and groups with wider limits")
        constraints = [
            models.CheckConstraint(
                condition=~models.Q(networks=[]) | models.Q(members__isnull=False),
                name="wider_limits_are_of_networks_or_members",
                violation_error_message=_("Name a network, or a group of members."),
            ),
            models.CheckConstraint(
                condition=models.Q(times__range=(2, 100)), name="wider_limits_are_2_to_100_times_as_wide"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class OutgoingEmailQuerySet(models.QuerySet["OutgoingEmail"]):
    def due(self) -> "OutgoingEmailQuerySet":
        return self.filter(due_at__lte=Now())


class OutgoingEmail(models.Model):
    """E-mail to send; accounts.outgoing_email deletes the row afterwards."""

    message = models.JSONField()
    created_at = models.DateTimeField(db_default=Now())
    attempts = models.PositiveSmallIntegerField(default=0)
    # Also the lease of the worker that sends it.
    due_at = models.DateTimeField(db_default=Now())

    objects = OutgoingEmailQuerySet.as_manager()

    def __str__(self) -> str:
        return f"e-mail {self.pk}"


class AuditEntry(models.Model):
    """Change by staff or a command. Triggers forbid editing and deleting."""

    user = models.ForeignKey(User, models.SET_NULL, null=True, related_name="audit_entries")
    action = models.CharField(max_length=60)
    subject = models.CharField(max_length=200)
    reason = models.TextField(blank=True)
    details = models.JSONField(default=dict)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name_plural = _("audit entries")
        ordering = ["-pk"]
        triggers = [
            pgtrigger.ReadOnly(
                name="an_audit_entry_never_changes", fields=["action", "subject", "reason", "details", "created_at"]
            ),
            # Deleting an account sets `user` to NULL.
            pgtrigger.Protect(
                name="an_audit_entry_is_given_to_nobody",
                operation=pgtrigger.Update,
                condition=pgtrigger.Q(new__user__isnull=False) & pgtrigger.Q(old__user__df=pgtrigger.F("new__user")),
            ),
            pgtrigger.Protect(name="an_audit_entry_is_never_deleted", operation=pgtrigger.Delete),
            forbid_truncate("the_audit_log_is_never_emptied"),
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.subject}"
