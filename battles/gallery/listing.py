"""Pages of the gallery, the latest first, among them tombstones of what was withdrawn."""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from heapq import merge
from typing import NamedTuple, TypeVar, cast

from django.db.models import Model, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Left
from django.utils import timezone

from battles.gallery.filters import GalleryFilterForm
from battles.models import NUMBERED_POSITIONS, GalleryTombstone, Position, Share, Side, Turn
from battles.payload_types import Choice, GalleryEntryPayload, GalleryTombstonePayload, Mode, VotedModelPayload
from battles.prompting.prompt import title_from_prompt
from battles.sessions.listing import parse_cursor

M = TypeVar("M", bound=Model)

PER_PAGE = 20
TOMBSTONE_DAYS = 30
_SOURCE_CHARACTERS, _PROMPT_CHARACTERS = 1_000, 280
_ORDER = [*Position.values, *NUMBERED_POSITIONS]


class _Found(NamedTuple):
    listed_at: datetime
    address: str
    row: Share | GalleryTombstone


@dataclass(frozen=True)
class Page:
    """next: cursor of the following page, "" on the last one."""

    rows: list[GalleryEntryPayload | GalleryTombstonePayload]
    next: str

    @property
    def entries(self) -> list[GalleryEntryPayload]:
        return [row for row in self.rows if "withdrawn_at" not in row]

    @property
    def tombstones(self) -> list[GalleryTombstonePayload]:
        return [cast(GalleryTombstonePayload, row) for row in self.rows if "withdrawn_at" in row]


def read_page(form: GalleryFilterForm, *, after: str = "") -> Page:
    """Return one page, with as many queries for any number of rows.

    after: `next` of the previous page; an invalid cursor returns the first page.
    """
    shares = [_Found(cast(datetime, share.listed_at), share.public_id, share) for share in _shares(form, after)]
    # Nothing is known of tombstones that a filter asks for.
    stones = [] if form.is_narrowed else [_Found(row.listed_at, row.address, row) for row in _tombstones(after)]
    # The rows keep the order that the database gives those of one time: its collation is not Python's.
    found = list(merge(shares, stones, key=lambda one: one.listed_at, reverse=True))
    shown = found[:PER_PAGE]
    models = _models([one.row.battle_id for one in shown if isinstance(one.row, Share)])
    rows = [_entry(row, models[row.battle_id]) if isinstance(row, Share) else _tombstone(row) for *_, row in shown]
    last = shown[-1] if len(found) > PER_PAGE else None
    return Page(rows, f"{last.listed_at.isoformat()}~{last.address}" if last else "")


def _shares(form: GalleryFilterForm, after: str) -> QuerySet[Share]:
    turns = Turn.objects.filter(battle=OuterRef("battle"), index=0)
    shares = form.shares().select_related("battle__vote")
    shares = shares.annotate(prompt=Subquery(turns.values(start=Left("prompt", _SOURCE_CHARACTERS))[:1]))
    return _page(shares, "public_id", after)


def _tombstones(after: str) -> QuerySet[GalleryTombstone]:
    lately = timezone.now() - timedelta(days=TOMBSTONE_DAYS)
    return _page(GalleryTombstone.objects.filter(withdrawn_at__gte=lately), "address", after)


def _page(rows: QuerySet[M], address: str, after: str) -> QuerySet[M]:
    if cursor := parse_cursor(after):
        listed_at, last = cursor
        at_that_time = Q(("listed_at", listed_at), (f"{address}__lt", last))
        # The first filter is redundant, but lets PostgreSQL use the index.
        rows = rows.filter(listed_at__lte=listed_at).filter(at_that_time | Q(listed_at__lt=listed_at))
    return rows.order_by("-listed_at", f"-{address}")[: PER_PAGE + 1]


def _models(battles: Collection[int]) -> dict[int, list[VotedModelPayload]]:
    sides = sorted(
        Side.objects.filter(battle__in=battles).select_related("model"), key=lambda side: _ORDER.index(side.position)
    )
    models: dict[int, list[VotedModelPayload]] = defaultdict(list)
    for side in sides:
        models[side.battle_id].append({"id": side.model.slug, "name": side.model.name})
    return models


def _entry(share: Share, models: list[VotedModelPayload]) -> GalleryEntryPayload:
    """share: with the annotations of listed_shares and `prompt`."""
    battle = share.battle
    vote = battle.vote_or_none
    labels = battle if vote is None else vote
    return {
        "id": share.public_id,
        "url": share.get_absolute_url(),
        "mode": cast(Mode, battle.mode),
        "prompt": title_from_prompt(getattr(share, "prompt", ""), max_length=_PROMPT_CHARACTERS),
        "models": models,
        "vote": cast(Choice, vote.choice) if vote is not None else None,
        "categories": labels.categories,
        "language": labels.language,
        "listed_at": cast(datetime, share.listed_at),
    }


def _tombstone(row: GalleryTombstone) -> GalleryTombstonePayload:
    return {"id": row.address, "listed_at": row.listed_at, "withdrawn_at": row.withdrawn_at}
