from django.utils.translation import gettext as _
from rest_framework.pagination import LimitOffsetPagination
from rest_framework.request import Request

from common.errors import InvalidInput
from common.text.numbers import parse_whole_number


class ArenaPagination(LimitOffsetPagination):
    """Refuses invalid limits and offsets, where DRF would silently return another page."""

    default_limit = 50
    max_limit = 200
    max_offset = 1_000_000_000

    def get_limit(self, request: Request) -> int:
        return _parse_integer(request, "limit", default=self.default_limit, minimum=1, maximum=self.max_limit)

    def get_offset(self, request: Request) -> int:
        return _parse_integer(request, "offset", default=0, minimum=0, maximum=self.max_offset)


def _parse_integer(request: Request, name: str, *, default: int, minimum: int, maximum: int) -> int:
    value = request.query_params.get(name)
    if value is None:
        return default
    number = parse_whole_number(value)
    if number is not None and minimum <= number <= maximum:
        return number
    raise InvalidInput(
        fields={name: [_("A whole number from %(least)d to %(most)d.") % {"least": minimum, "most": maximum}]}
    )
