from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from battles.models.owners import SiteManager, fixed_owner, team_field
from battles.text.custom_category import Rule

# Precedes the address of a team's category, wherever one of the site can have the same.
TEAM_MARK = "~"


class CategoryQuerySet(models.QuerySet["Category"]):
    def rules(self) -> list[Rule]:
        return [category.rule for category in self.filter(is_active=True).order_by("slug")]


_SiteCategories = SiteManager.from_queryset(CategoryQuerySet)


class Category(models.Model):
    """A category of the site's operator or a team: battles that meet all its conditions get a board of their own."""

    team = team_field()
    slug = models.SlugField(_("address"), max_length=40)
    name = models.CharField(_("name"), max_length=80)
    description = models.TextField(_("description"), blank=True, max_length=500)
    is_active = models.BooleanField(_("in use"), default=True)
    phrases = ArrayField(models.CharField(max_length=80), verbose_name=_("words or phrases"), default=list, blank=True)
    languages = ArrayField(models.CharField(max_length=3), verbose_name=_("languages"), default=list, blank=True)
    fewest_characters = models.PositiveIntegerField(
        _("characters, at least"), default=0, validators=[MaxValueValidator(1_000_000)]
    )
    fewest_turns = models.PositiveSmallIntegerField(
        _("turns, at least"), default=1, validators=[MinValueValidator(1), MaxValueValidator(100)]
    )
    created_at = models.DateTimeField(auto_now_add=True)

    # The first one is Django's default, which the administration uses.
    of_every_owner = CategoryQuerySet.as_manager()
    objects = _SiteCategories()

    class Meta:
        ordering = ["name"]
        verbose_name_plural = _("categories")
        constraints = [
            models.UniqueConstraint(
                fields=["slug", "team"],
                nulls_distinct=False,
                name="an_owner_names_a_category_once",
                violation_error_message=_("There is a category with this address already."),
            ),
            models.CheckConstraint(
                condition=~Q(phrases=[], languages=[], fewest_characters=0, fewest_turns__lte=1),
                name="a_category_has_a_rule",
                violation_error_message=_("Say what belongs to it: words, languages, a length or a number of turns."),
            ),
        ]
        triggers = [fixed_owner("a_category_keeps_its_owner")]

    def __str__(self) -> str:
        return self.name

    @property
    def rule(self) -> Rule:
        return Rule(
            slug=self.slug, phrases=tuple(self.phrases), languages=tuple(self.languages),
            fewest_characters=self.fewest_characters, fewest_turns=self.fewest_turns,
        )  # fmt: skip

    @property
    def key(self) -> str:
        """Return the address, of a team's category with TEAM_MARK."""
        return self.slug if self.team_id is None else f"{TEAM_MARK}{self.slug}"
