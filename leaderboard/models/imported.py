"""Boards made of somebody else's votes: their contestants and votes live here, beside the arena's own."""

import pgtrigger
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from battles.models import Vote
from models_registry.models import LanguageModel

SCOPE = "imported:"


class ImportedBoard(models.Model):
    """A table of votes from elsewhere, with where it comes from and under which terms."""

    slug = models.SlugField(max_length=60, unique=True)
    title = models.CharField(_("title"), max_length=120)
    source = models.CharField(_("source"), max_length=300, blank=True)
    licence = models.CharField(_("licence"), max_length=120, blank=True)
    # Imported again, a table gets the next edition; the votes of earlier ones stay for their snapshots.
    edition = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return self.title

    @property
    def scope(self) -> str:
        return f"{SCOPE}{self.slug}"


class Contestant(models.Model):
    """A name in an imported table; it may be a model that the registry knows."""

    board = models.ForeignKey(ImportedBoard, models.PROTECT, related_name="contestants")
    name = models.CharField(max_length=200)
    model = models.ForeignKey(LanguageModel, models.SET_NULL, null=True, blank=True, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["board", "name"], name="a_board_has_each_contestant_once")]

    def __str__(self) -> str:
        return self.name


class ImportedVote(models.Model):
    """`n` equal votes of an imported table, in the table's order. They never change; the table may get an edition."""

    board = models.ForeignKey(ImportedBoard, models.PROTECT, related_name="votes", db_index=False)
    edition = models.PositiveIntegerField()
    order = models.PositiveIntegerField()
    left = models.ForeignKey(Contestant, models.PROTECT, related_name="+", db_index=False)
    right = models.ForeignKey(Contestant, models.PROTECT, related_name="+", db_index=False)
    outcome = models.CharField(max_length=8, choices=Vote.Choice)
    n = models.PositiveIntegerField(default=1)
    # As the table names who voted; empty where it does not say.
    voter = models.CharField(max_length=100, blank=True)
    created_at = models.DateTimeField(null=True)
    category = models.CharField(max_length=100, blank=True)
    # As in battles.models.Vote; null where the table has no style counts.
    style = models.JSONField(null=True)

    class Meta:
        constraints = [
            # Also the index that exports and recounts go along.
            models.UniqueConstraint(
                fields=["board", "edition", "order"], name="an_imported_vote_has_a_place_of_its_own"
            ),
            models.CheckConstraint(condition=Q(n__gte=1), name="an_imported_vote_was_cast"),
            models.CheckConstraint(
                condition=~Q(left=F("right")), name="an_imported_vote_is_about_two_different_contestants"
            ),
        ]
        triggers = [
            pgtrigger.Protect(name="an_imported_vote_never_changes", operation=pgtrigger.Update | pgtrigger.Delete)
        ]

    def __str__(self) -> str:
        return f"{self.board_id} {self.order}"
