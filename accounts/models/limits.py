from django.contrib.auth.models import Group
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _


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
