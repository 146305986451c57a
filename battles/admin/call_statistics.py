from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Aggregate, Count, FloatField, Q
from django.db.models.functions import Now

from battles.models import Call
from common.payload_types import JsonObject
from models_registry.providers import FailureCode

WINDOW = timedelta(hours=24)


@dataclass(frozen=True)
class CallStatistics:
    """Finished calls of battles. Times in milliseconds, of complete answers only."""

    calls: int = 0
    errors: int = 0
    empty: int = 0
    truncated: int = 0
    refused: int = 0
    first_p50: float | None = None
    first_p95: float | None = None
    total_p50: float | None = None
    total_p95: float | None = None

    def percent(self, number: int) -> str:
        return f"{100 * number / self.calls:.0f} %" if self.calls else "–"

    @property
    def error_rate(self) -> str:
        return self.percent(self.errors)

    @property
    def empty_rate(self) -> str:
        return self.percent(self.empty)

    @property
    def truncation_rate(self) -> str:
        return self.percent(self.truncated)

    @property
    def refusal_rate(self) -> str:
        return self.percent(self.refused)


class _Percentile(Aggregate):
    function = "percentile_cont"
    template = "%(function)s(%(fraction)s) WITHIN GROUP (ORDER BY %(expressions)s)"
    output_field = FloatField()

    def __init__(self, expression: str, fraction: float) -> None:
        super().__init__(expression, fraction=fraction, filter=Q(state=Call.State.DONE))


def get_call_statistics(model_ids: Iterable[int], *, within: timedelta = WINDOW) -> dict[int, CallStatistics]:
    """Return statistics by model id; one query."""
    ended = Q(state__in=[Call.State.DONE, Call.State.STOPPED, Call.State.FAILED], purpose=Call.Purpose.ANSWER)
    calls = Call.objects.filter(ended, model__in=list(model_ids), started_at__gte=Now() - within)
    aggregated = (
        calls.order_by()
        .values("model_id")
        .annotate(
            calls=Count("pk"),
            errors=Count("pk", filter=Q(state=Call.State.FAILED)),
            empty=Count("pk", filter=Q(error=FailureCode.EMPTY)),
            truncated=Count("pk", filter=Q(finish_reason="length")),
            refused=Count("pk", filter=Q(finish_reason="content_filter") | Q(error=FailureCode.FILTERED)),
            first_p50=_Percentile("first_token_ms", 0.5),
            first_p95=_Percentile("first_token_ms", 0.95),
            total_p50=_Percentile("total_ms", 0.5),
            total_p95=_Percentile("total_ms", 0.95),
        )
    )
    rows: list[JsonObject] = [dict(row) for row in aggregated]
    return {row.pop("model_id"): CallStatistics(**row) for row in rows}
