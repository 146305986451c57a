from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from math import sqrt

from django.db.models import Avg, Count, F, Q, StdDev
from django.db.models.functions import Floor, Least, TruncHour
from django.utils import timezone

from arena_site.operations.activity import HOURS
from battles.models import RoutingDecision, RoutingDecisionQuerySet
from routing.deciding.query_types import type_names
from routing.deciding.rules import thresholds_or_default
from routing.models import RouterSnapshot, RoutingThresholds

MAX_TYPES = 8
BINS = 10
# Two-sided 95 %; leaderboard.rating.intervals imports numpy, which this page does not need.
Z = 1.96
Target = RoutingDecision.Target


@dataclass(frozen=True)
class Part:
    label: str
    decisions: int
    percent: int


@dataclass(frozen=True)
class Saving:
    """US dollars saved against always asking the best model, with a 95 % interval of the sum over decisions that are
    like these. percent: of the cost of the best.
    """

    decisions: int
    total: float
    low: float
    high: float
    percent: int | None


@dataclass(frozen=True)
class Exploration:
    """Battles to learn from in the last hour, as shares of decisions that no rule or conversation made."""

    share: float
    cap: float

    @property
    def share_percent(self) -> int:
        return round(100 * self.share)

    @property
    def cap_percent(self) -> int:
        return round(100 * self.cap)


@dataclass
class AutoMode:
    """confidences: by tenths, the surest first. snapshot: the one that decides; newest: the last training."""

    decisions: int = 0
    targets: list[Part] = field(default_factory=list)
    types: list[Part] = field(default_factory=list)
    by_hour: list[int] = field(default_factory=list)
    confidences: list[Part] = field(default_factory=list)
    exploration: Exploration | None = None
    fallbacks: int = 0
    refused: int = 0
    saving: Saving | None = None
    snapshot: RouterSnapshot | None = None
    newest: RouterSnapshot | None = None

    @property
    def is_used(self) -> bool:
        return bool(self.decisions or self.newest)


def read_auto_mode() -> AutoMode:
    """Read in eight queries of at most a day's decisions, in two where nothing was decided."""
    hour = timezone.now().astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    hours = [hour - timedelta(hours=ago) for ago in reversed(range(HOURS))]
    recent = RoutingDecision.objects.filter(created_at__gte=hours[0]).order_by()
    rows = list(
        recent.annotate(hour=TruncHour("created_at", tzinfo=UTC))
        .values_list("hour", "target", "query_type")
        .annotate(n=Count("pk"))
    )
    snapshots = RouterSnapshot.objects.in_place(None).defer("parameters")
    newest = snapshots.first()
    if not rows:
        snapshot = snapshots.published().first() if newest else None
        return AutoMode(by_hour=[0] * HOURS, snapshot=snapshot, newest=newest)
    targets, types, by_hour = Counter[str](), Counter[str](), Counter[datetime]()
    for at, target, query_type, n in rows:
        targets[target] += n
        types[query_type] += n
        by_hour[at] += n
    return AutoMode(
        decisions=targets.total(),
        targets=_parts(targets, {target.value: str(target.label) for target in Target}),
        types=_parts(types, type_names())[:MAX_TYPES],
        by_hour=[by_hour[at] for at in hours],
        confidences=_confidences(recent),
        exploration=_exploration(),
        fallbacks=targets[Target.FALLBACK],
        refused=targets[Target.REFUSED],
        saving=_saving(recent),
        snapshot=snapshots.published().first(),
        newest=newest,
    )


def _parts(counted: Counter[str], names: Mapping[str, str]) -> list[Part]:
    total = counted.total()
    most_first = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    return [Part(names.get(key, key), n, round(100 * n / total)) for key, n in most_first]


def _confidences(recent: RoutingDecisionQuerySet) -> list[Part]:
    # Targets that a model or a battle was chosen for; the others have no confidence of their own.
    chosen = recent.filter(confidence__isnull=False, target__in=[Target.MODEL, Target.ARENA])
    bins = chosen.annotate(bin=Least(Floor(F("confidence") * BINS), float(BINS - 1)))
    counted = {int(number): n for number, n in bins.values_list("bin").annotate(n=Count("pk"))}
    total = max(sum(counted.values()), 1)
    return [
        Part(f"{number / BINS:.1f}–{(number + 1) / BINS:.1f}", n, round(100 * n / total))
        for number in reversed(range(BINS))
        for n in [counted.get(number, 0)]
    ]


def _exploration() -> Exploration:
    last_hour = RoutingDecision.objects.filter(created_at__gte=timezone.now() - timedelta(hours=1))
    counts = last_hour.chosen_freely().aggregate(n=Count("pk"), explored=Count("pk", filter=Q(explored=True)))
    share = counts["explored"] / counts["n"] if counts["n"] else 0.0
    thresholds = thresholds_or_default(RoutingThresholds.objects.first())
    return Exploration(share, thresholds.max_explored_share)


def _saving(recent: RoutingDecisionQuerySet) -> Saving | None:
    """Normal interval: the sum of independent decisions; None where no price was known."""
    priced = recent.filter(target=Target.MODEL, cost_expected__isnull=False, cost_best__isnull=False)
    saved = F("cost_best") - F("cost_expected")
    figures = priced.aggregate(n=Count("pk"), mean=Avg(saved), sd=StdDev(saved, sample=True), best=Avg("cost_best"))
    n: int = figures["n"]
    if not n:
        return None
    total, half = n * float(figures["mean"]), Z * float(figures["sd"] or 0) * sqrt(n)
    best = n * float(figures["best"])
    return Saving(n, total, total - half, total + half, round(100 * total / best) if best else None)
