"""Feedback on answers after the vote: tags of the operator, and a comment."""

from dataclasses import dataclass

from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from battles.models import FeedbackTag, Vote
from common.cache import TTLCached
from common.text.translated import Texts, in_best_language

# Labels of tags to which the operator gave none. A migration stores these tags.
GOOD = {
    "accurate": _("accurate"),
    "clear": _("clear"),
    "complete": _("complete"),
    "creative": _("creative"),
    "followed_instructions": _("followed instructions"),
}
BAD = {
    "wrong": _("wrong"),
    "shallow": _("shallow"),
    "ignored_instructions": _("ignored instructions"),
    "refused": _("refused"),
}
BUILT_IN = {**GOOD, **BAD}
MAX_CHARACTERS = 2000


@dataclass(frozen=True)
class Tag:
    slug: str
    is_good: bool
    labels: Texts
    is_retired: bool = False

    @property
    def label(self) -> str:
        return in_best_language(self.labels) or str(BUILT_IN.get(self.slug, self.slug))


def _read() -> dict[str, Tag]:
    rows = FeedbackTag.objects.all()
    stored = {row.slug: Tag(row.slug, row.is_good, row.labels, row.is_retired) for row in rows}
    return stored or built_in()


def built_in() -> dict[str, Tag]:
    return {slug: Tag(slug, slug in GOOD, {}) for slug in BUILT_IN}


# All tags by slug, in the order in which they are shown; also retired ones.
tags = TTLCached(_read, ttl_s=10, invalidated_by=(FeedbackTag,))


def label_of(slug: str) -> str:
    tag = tags().get(slug)
    return tag.label if tag else slug


def is_used(slug: str) -> bool:
    """Return whether a vote has the tag; reads the votes with tags."""
    has_tag = Q(tags__left__contains=[slug]) | Q(tags__right__contains=[slug])
    return Vote.objects.exclude(tags={}).filter(has_tag).exists()
