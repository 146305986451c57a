"""Items of a run by pages and filters."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext as _

from benchmarks.models import ItemReply, Run, RunItem
from common.errors import InvalidInput
from common.text.numbers import parse_whole_number


@dataclass(frozen=True)
class ItemPage:
    """next: cursor of the following page, "" on the last one."""

    items: list[RunItem]
    next: str


def read_items(run: Run, params: Mapping[str, str], *, limit: int, is_searchable: bool) -> ItemPage:
    """Return items with case and model. params: of the API. is_searchable: prompts and replies. Raises InvalidInput."""
    entrants = list(run.entrants.values_list("pk", flat=True))
    items = RunItem.objects.filter(entrant__in=entrants).order_by("pk")
    if "entrant" in params:
        items = items.filter(entrant=_number(params, "entrant"))
    if "cursor" in params:
        items = items.filter(pk__gt=_number(params, "cursor"))
    filters = {"case": "case__key", "state": "state"}
    items = items.filter(**{field: _text(params, name) for name, field in filters.items() if params.get(name)})
    if params.get("tag"):
        items = items.filter(case__tags__contains=[_text(params, "tag")])
    if search := _text(params, "search"):
        matches = Q(case__key__icontains=search)
        if is_searchable:
            replies = ItemReply.objects.filter(item=OuterRef("pk"), reply__text__icontains=search)
            matches |= Q(case__variables__icontains=search) | Q(Exists(replies))
        items = items.filter(matches)
    page = list(items.select_related("case", "entrant__model__team")[: limit + 1])
    shown = page[:limit]
    return ItemPage(shown, str(shown[-1].pk) if len(page) > limit else "")


def _text(params: Mapping[str, str], name: str) -> str:
    return params.get(name, "").replace("\x00", "")


def _number(params: Mapping[str, str], name: str) -> int:
    value = parse_whole_number(params[name])
    if value is None:
        raise InvalidInput(fields={name: [_("A whole number.")]})
    return value
