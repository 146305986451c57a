from datetime import timedelta
from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib.auth.models import AbstractUser, UserManager
from django.contrib.sessions.models import Session as BrowserSession
from django.db import models
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from common.ids import new_public_id

if TYPE_CHECKING:
    from accounts.models.teams import TeamMember


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


class SignedInUserManager(EmailUserManager):
    """Annotates is_in_team, which spares most pages a query."""

    use_in_migrations = False

    def get_queryset(self) -> models.QuerySet["User"]:
        members = self.model._meta.get_field("team_members").related_model  # its module imports this one
        of_user = members._default_manager.filter(user=models.OuterRef("pk"))
        return super().get_queryset().annotate(is_in_team=models.Exists(of_user))


class User(AbstractUser):
    username = None  # type: ignore[assignment]
    email = models.EmailField(_("e-mail address"), unique=True)

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []
    objects: ClassVar[EmailUserManager] = EmailUserManager()
    # The default manager, by which Django loads the person of a request.
    signed_in: ClassVar[SignedInUserManager] = SignedInUserManager()

    class Meta(AbstractUser.Meta):
        default_manager_name = "signed_in"

    def __str__(self) -> str:
        return self.email

    @cached_property
    def has_staff_rights(self) -> bool:
        """Return whether the account may act as staff. False while it is blocked, which `is_staff` does not tell."""
        if not (self.is_active and self.is_staff):
            return False
        blocks = models.Q(user=self) | models.Q(visitor__claimed_by=self)
        return not self.bans.model.objects.in_force().filter(blocks).exists()

    @cached_property
    def has_teams(self) -> bool:
        """Return whether the person is in a team, also an archived one."""
        annotated: bool | None = self.__dict__.get("is_in_team")
        return self.team_members.exists() if annotated is None else annotated

    @cached_property
    def memberships(self) -> dict[int, "TeamMember"]:
        """Return memberships in teams that are not archived, by the team's id, in the order of names."""
        if not self.has_teams:
            return {}
        members = self.team_members.active().select_related("team").order_by("team__name", "team")
        return {member.team_id: member for member in members}

    @property
    def is_administrator(self) -> bool:
        return self.is_superuser and self.has_staff_rights

    def has_perm(self, perm: str, obj: models.Model | None = None) -> bool:
        return self.has_staff_rights and super().has_perm(perm, obj)

    def has_module_perms(self, app_label: str) -> bool:
        return self.has_staff_rights and super().has_module_perms(app_label)


class SignInQuerySet(models.QuerySet["SignIn"]):
    def active(self) -> "SignInQuerySet":
        return self.filter(session__expire_date__gt=Now())


class SignIn(models.Model):
    """Member's browser; deleted with its session. Stores no IP address."""

    public_id = models.CharField(max_length=22, unique=True, default=new_public_id, editable=False)
    user = models.ForeignKey(User, models.CASCADE, related_name="sign_ins")
    session = models.OneToOneField(BrowserSession, models.CASCADE, related_name="sign_in")
    # Names of accounts.sign_in.sessions: "Firefox", "Windows"; empty when unknown.
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
