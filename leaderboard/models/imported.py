import pgtrigger
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from battles.models import Vote
from models_registry.models import LanguageModel

SCOPE = "imported:"


class ImportedBoard(models.Model):
    slug = models.SlugField(max_length=60, unique=True)
    title = models.CharField(_("title"), max_length=120)
    source = models.CharField(_("source"), max_length=300, blank=True)
    licence = models.CharField(_("licence"), max_length=120, blank=True)
    # Each import of the table gets the next edition; votes of earlier editions stay for their snapshots.
    edition = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return self.title

    @property
    def scope(self) -> str:
        return f"{SCOPE}{self.slug}"


class Contestant(models.Model):
    board = models.ForeignKey(ImportedBoard, models.PROTECT, related_name="contestants")
    name = models.CharField(max_length=200)
    model = models.ForeignKey(LanguageModel, models.SET_NULL, null=True, blank=True, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["board", "name"], name="a_board_has_each_contestant_once")]

    def __str__(self) -> str:
        return self.name


class ImportedVote(models.Model):
    """`n` equal votes of one edition of an imported table, numbered in the table's order."""

    board = models.ForeignKey(ImportedBoard, models.PROTECT, related_name="votes", db_index=False)
    edition = models.PositiveIntegerField()
    order = models.PositiveIntegerField()
    left = models.ForeignKey(Contestant, models.PROTECT, related_name="+", db_index=False)
    right = models.ForeignKey(Contestant, models.PROTECT, related_name="+", db_index=False)
    outcome = models.CharField(max_length=8, choices=Vote.Choice)
    n = models.PositiveIntegerField(default=1)
    # The table's name of the voter; empty if it has none.
    voter = models.CharField(max_length=100, blank=True)
    created_at = models.DateTimeField(null=True)
    category = models.CharField(max_length=100, blank=True)
    # Style counts as in battles.models.Vote; null if the table has none.
    style = models.JSONField(null=True)

    class Meta:
        constraints = [
            # Exports and recounts also use its index.
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
