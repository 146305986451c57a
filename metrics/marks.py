"""Read events that may explain a change of figures: new models, prices and versions of the arena."""

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from typing import NamedTuple

from django.db.models import F, OuterRef, Subquery
from django.utils.translation import gettext as _

from common.text.money import dollars, plain_decimal
from metrics.catalogue import Bucket
from metrics.models import Deploy
from metrics.rollup.families import start_of
from metrics.series import start_of_bucket, start_of_next
from models_registry.models import LanguageModel, Price


class Mark(NamedTuple):
    """Events of one bucket, numbered on the axis. days: of the events."""

    number: int
    start: date
    days: list[date]
    texts: list[str]


def read_marks(first: date, last: date, bucket: Bucket, models: Sequence[LanguageModel]) -> list[Mark]:
    """Return deploys in the buckets of the period, and new versions and prices of the models; two queries."""
    period = start_of(start_of_bucket(first, bucket)), start_of(start_of_next(last, bucket))
    events = sorted({*_deploys(*period), *_versions(*period, models), *_prices(*period, models)})
    marks: list[Mark] = []
    for at, text in events:
        day = at.astimezone(UTC).date()
        start = start_of_bucket(day, bucket)
        if not marks or marks[-1].start != start:
            marks.append(Mark(len(marks) + 1, start, [], []))
        marks[-1].days.append(day)
        marks[-1].texts.append(text)
    return marks


_Events = Iterable[tuple[datetime, str]]


def _deploys(start: datetime, end: datetime) -> _Events:
    for deploy in Deploy.objects.filter(at__gte=start, at__lt=end):
        yield deploy.at, _("arena %(version)s") % {"version": deploy}


def _versions(start: datetime, end: datetime, models: Sequence[LanguageModel]) -> _Events:
    for model in models:
        if start <= model.created_at < end:
            yield model.created_at, _("%(model)s added") % {"model": model}


def _prices(start: datetime, end: datetime, models: Sequence[LanguageModel]) -> _Events:
    """Return prices after each model's first one."""
    if not models:
        return
    first = Price.objects.filter(model=OuterRef("model")).order_by("valid_from", "pk").values("pk")[:1]
    changed = Price.objects.filter(model__in=models, valid_from__gte=start, valid_from__lt=end)
    names = {model.pk: str(model) for model in models}
    for price in changed.annotate(first=Subquery(first)).exclude(pk=F("first")):
        facts = {
            "model": names[price.model_id], "input": dollars(plain_decimal(price.input_per_million)),
            "output": dollars(plain_decimal(price.output_per_million)),
        }  # fmt: skip
        yield price.valid_from, _("%(model)s: %(input)s in, %(output)s out per million tokens") % facts
