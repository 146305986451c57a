"""People of a review, and codes that let one person in."""

import pgtrigger
from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from reviews.models.reviews import Review


class ReviewerQuerySet(models.QuerySet["Reviewer"]):
    def away(self) -> "ReviewerQuerySet":
        return self.filter(away_at__lt=Now(), review__state=Review.State.OPEN)


class Reviewer(models.Model):
    """A person who joined a review or was shown one of its battles."""

    MAX_NICKNAME, MAX_BECAUSE = 40, 300

    review = models.ForeignKey(Review, models.CASCADE, related_name="reviewers", db_index=False)
    # Actor.key.
    person = models.CharField(max_length=40, db_index=True)
    nickname = models.CharField(max_length=MAX_NICKNAME, blank=True)
    # Hash of the review (common.client_ip.lasting_hash), of people by link or codes; deleted after some time.
    network = models.CharField(max_length=32, blank=True)
    joined_at = models.DateTimeField(db_default=Now())
    # A stop rule looks at people who ended: their opinions until then. away_at: the end if they do not come back, from
    # their first counted vote on.
    away_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    # The owner left the person's votes out; evidence: as they saw it then.
    set_aside_at = models.DateTimeField(null=True)
    set_aside_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    because = models.CharField(max_length=MAX_BECAUSE, blank=True)
    evidence = models.JSONField(default=dict)

    objects = ReviewerQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["review", "person"], name="a_person_joins_a_review_once"),
            models.CheckConstraint(
                condition=Q(away_at=None) | Q(ended_at=None), name="a_person_who_ended_is_not_waited_for"
            ),
        ]
        indexes = [
            models.Index(fields=["joined_at"], name="reviewers_with_networks", condition=~Q(network="")),
            models.Index(fields=["away_at"], name="reviewers_under_way", condition=Q(away_at__isnull=False)),
        ]
        triggers = [
            pgtrigger.Protect(
                name="the_first_end_of_a_person_stands",
                operation=pgtrigger.Update,
                condition=pgtrigger.Condition(
                    "OLD.ended_at IS NOT NULL AND OLD.ended_at IS DISTINCT FROM NEW.ended_at"
                ),
            )
        ]

    def __str__(self) -> str:
        return f"{self.review_id} {self.person}"


class PersonalCode(models.Model):
    """A code of a review for one person."""

    review = models.ForeignKey(Review, models.CASCADE, related_name="personal_codes")
    code = models.CharField(max_length=8, unique=True)
    used_by = models.OneToOneField(Reviewer, models.SET_NULL, null=True, related_name="personal_code")
    used_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(used_by=None) | Q(used_at__isnull=False), name="a_code_in_use_has_its_time"
            ),
        ]

    def __str__(self) -> str:
        return f"code {self.pk} of {self.review_id}"
