"""Lists of the API: limit, offset, and the four keys of the contract."""

from django.utils.translation import gettext as _
from rest_framework.pagination import LimitOffsetPagination
from rest_framework.request import Request

from common.errors import InvalidInput


class ArenaPagination(LimitOffsetPagination):
    """A page that cannot be had is refused, not replaced by another: a program that asked for it relies on it."""

    default_limit = 50
    max_limit = 200
    max_offset = 1_000_000_000

    def get_limit(self, request: Request) -> int:
        return _whole_number(request, "limit", default=self.default_limit, least=1, most=self.max_limit)

    def get_offset(self, request: Request) -> int:
        return _whole_number(request, "offset", default=0, least=0, most=self.max_offset)


def _whole_number(request: Request, name: str, *, default: int, least: int, most: int) -> int:
    """Raises InvalidInput."""
    said = request.query_params.get(name)
    if said is None:
        return default
    if said.isascii() and said.isdecimal() and len(said) <= 18 and least <= int(said) <= most:
        return int(said)
    raise InvalidInput(
        fields={name: [_("A whole number from %(least)d to %(most)d.") % {"least": least, "most": most}]}
    )
