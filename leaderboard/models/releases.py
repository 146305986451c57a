from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from battles.models import Vote
from leaderboard.models.snapshots import AggregationRun

MAX_DAYS = 3_660


def validate_embargo(days: int) -> None:
    if days < 0:
        raise ValidationError(
            _("An embargo cannot be negative. Enter 0 to publish without an embargo."), code="embargo_negative"
        )


def validate_interval(days: int) -> None:
    if days < 0:
        raise ValidationError(_("Enter 0 or a number of days."), code="interval_negative")


class DataPolicy(models.Model):
    """Licence of the published data, and the schedule of releases. The one row."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1, editable=False)
    licence = models.CharField(
        _("licence"), max_length=120, blank=True, help_text=_("For example CC BY 4.0. Stated on the data page.")
    )
    licence_url = models.URLField(_("text of the licence"), blank=True, help_text=_("An address."))
    release_every_days = models.IntegerField(
        _("days between releases"),
        default=0,
        validators=[validate_interval, MaxValueValidator(MAX_DAYS)],
        help_text=_("0: no scheduled releases."),
    )
    embargo_days = models.IntegerField(
        _("embargo, days"),
        default=0,
        validators=[validate_embargo, MaxValueValidator(MAX_DAYS)],
        help_text=_("Days from the last vote of a release to its publication."),
    )

    class Meta:
        verbose_name = _("data policy")
        verbose_name_plural = _("data policy")
        constraints = [
            models.CheckConstraint(condition=Q(id=1), name="there_is_one_data_policy"),
            models.CheckConstraint(
                condition=Q(release_every_days__range=(0, MAX_DAYS), embargo_days__range=(0, MAX_DAYS)),
                name="days_of_a_data_policy_are_not_negative",
            ),
        ]

    def __str__(self) -> str:
        return self.licence or str(_("no licence"))

    @classmethod
    def current(cls) -> "DataPolicy":
        """Return the row, or an unsaved one with the defaults."""
        return cls.objects.first() or cls()


class DataReleaseQuerySet(models.QuerySet["DataRelease"]):
    def published(self) -> "DataReleaseQuerySet":
        return self.filter(state=DataRelease.State.PUBLISHED).order_by("-day").prefetch_related("files")

    def unpublished(self) -> "DataReleaseQuerySet":
        return self.exclude(state=DataRelease.State.PUBLISHED).order_by("day")


class DataRelease(models.Model):
    """Set of files with the votes of one snapshot, written when the embargo ends."""

    class State(models.TextChoices):
        PLANNED = "planned", _("planned")
        WRITING = "writing", _("being written")
        PUBLISHED = "published", _("published")

    day = models.DateField(_("day"), unique=True)
    run = models.ForeignKey(AggregationRun, models.PROTECT, related_name="+", verbose_name=_("snapshot"))
    last_star = models.PositiveBigIntegerField()
    planned_at = models.DateTimeField(db_default=Now())
    embargo_until = models.DateTimeField(_("embargo until"))
    state = models.CharField(_("state"), max_length=9, choices=State, default=State.PLANNED)
    # End of the worker's lease; also its fencing token.
    lease_until = models.DateTimeField(null=True)
    published_at = models.DateTimeField(_("published"), null=True)
    # Licence at the time of the publication.
    licence = models.CharField(_("licence"), max_length=120, blank=True)
    licence_url = models.URLField(_("text of the licence"), blank=True)

    objects = DataReleaseQuerySet.as_manager()

    class Meta:
        ordering = ["-day"]
        verbose_name = _("data release")
        verbose_name_plural = _("data releases")
        constraints = [
            models.CheckConstraint(
                condition=Q(embargo_until__gte=F("planned_at")), name="an_embargo_ends_after_its_release_was_planned"
            ),
            models.CheckConstraint(
                condition=Q(state="published") ^ Q(published_at=None), name="a_published_release_has_a_time"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.day:%Y-%m-%d}"


class ReleaseFile(models.Model):
    release = models.ForeignKey(DataRelease, models.PROTECT, related_name="files")
    name = models.CharField(max_length=80)
    # Empty when the file is deleted.
    stored_as = models.CharField(max_length=200, blank=True)
    size = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64)
    rows = models.PositiveBigIntegerField(null=True)
    # Texts are removed when a later release has them without those that were withdrawn.
    removed_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["release", "name"], name="a_release_has_each_file_once"),
        ]

    def __str__(self) -> str:
        return f"{self.release_id}/{self.name}"


class ReleasedText(models.Model):
    """Vote whose conversation was in a release: later ones have a tombstone if it is withdrawn."""

    vote = models.OneToOneField(Vote, models.PROTECT, primary_key=True, related_name="+")
    release = models.ForeignKey(DataRelease, models.PROTECT, related_name="+")

    def __str__(self) -> str:
        return f"{self.vote_id} in {self.release_id}"
