from collections.abc import Callable, Sequence
from typing import ClassVar, Generic, TypeVar

from django.db.models import Model, QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from common.api.pagination import ArenaPagination
from common.payload_types import Page

Payload = TypeVar("Payload")
Row = TypeVar("Row")
M = TypeVar("M", bound=Model)


class PayloadResponse(Generic[Payload], Response):  # in this order: DRF's __class_getitem__ drops the type
    """JSON response. A view's return annotation names status and payload for arena_site.openapi."""

    status: ClassVar = 200

    def __init__(self, data: Payload) -> None:
        super().__init__(data, status=self.status)


class Created(PayloadResponse[Payload]):
    status = 201


class Accepted(PayloadResponse[Payload]):
    status = 202


class NoContent(Response):
    status: ClassVar = 204

    def __init__(self) -> None:
        super().__init__(status=self.status)


def paginated(
    rows: "QuerySet[M, Row] | Sequence[Row]", request: Request, payload: Callable[[Row], Payload]
) -> PayloadResponse[Page[Payload]]:
    return paginated_together(rows, request, lambda page: [payload(row) for row in page])


def paginated_together(
    rows: "QuerySet[M, Row] | Sequence[Row]", request: Request, payloads: Callable[[list[Row]], list[Payload]]
) -> PayloadResponse[Page[Payload]]:
    """Return a page whose rows share queries."""
    paginator = ArenaPagination()
    page = paginator.paginate_queryset(rows, request) or []
    return PayloadResponse(
        {
            "count": paginator.count,
            "next": paginator.get_next_link(),
            "previous": paginator.get_previous_link(),
            "results": payloads(page),
        }
    )
