"""Lists of the API: limit, offset, and the four keys of the contract."""

from rest_framework.pagination import LimitOffsetPagination


class ArenaPagination(LimitOffsetPagination):
    default_limit = 50
    max_limit = 200
