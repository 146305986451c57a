"""Rows that belong to the site or to a team."""

from typing import TypeVar

import pgtrigger
from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models import Team

M = TypeVar("M", bound=models.Model)


class SiteManager(models.Manager[M]):
    """The site's rows; `of_every_owner` finds those of teams, too."""

    def get_queryset(self) -> models.QuerySet[M]:
        return super().get_queryset().filter(team=None)


def team_field() -> "models.ForeignKey[Team | None, Team | None]":
    """Return a foreign key; None for the site."""
    return models.ForeignKey(
        Team, models.PROTECT, null=True, blank=True, editable=False, related_name="+", verbose_name=_("team")
    )


def fixed_owner(name: str) -> pgtrigger.Trigger:
    return pgtrigger.ReadOnly(name=name, fields=["team"])
