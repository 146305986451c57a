from django.conf import settings
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from rest_framework.request import Request
from rest_framework.utils.urls import replace_query_param
from rest_framework.views import APIView

from battles.gallery.filters import GalleryFilterForm
from battles.gallery.listing import read_page
from battles.payload_types import GalleryPagePayload
from battles.sessions.listing import parse_cursor
from common.api_responses import PayloadResponse
from common.errors import InvalidInput, NotFound


@method_decorator(never_cache, name="dispatch")  # a withdrawn battle must not stay in caches
class Gallery(APIView):
    def get(self, request: Request) -> PayloadResponse[GalleryPagePayload]:
        if not settings.ARENA_GALLERY:
            raise NotFound
        form = GalleryFilterForm(request.query_params)
        if not form.is_valid():
            raise InvalidInput(fields={name: [str(line) for line in lines] for name, lines in form.errors.items()})
        cursor = request.query_params.get("cursor", "")
        if cursor and parse_cursor(cursor) is None:
            raise InvalidInput(fields={"cursor": [_("Take it from `next`.")]})
        page = read_page(form, after=cursor)
        url = request.build_absolute_uri()
        following = replace_query_param(url, "cursor", page.next) if page.next else None
        return PayloadResponse({"next": following, "results": page.entries, "withdrawn": page.tombstones})
