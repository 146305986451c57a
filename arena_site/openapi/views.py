import json
from functools import cache, lru_cache

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.decorators import method_decorator
from django.utils.translation import override
from django.views.decorators.http import require_safe
from rest_framework.request import Request
from rest_framework.views import APIView

from common.caching import public
from site_content.current import site


def schema_as_json() -> bytes:
    """Return the document in English under the site's name, generated with the first request."""
    return _with_title(site().chosen_name)


@lru_cache(maxsize=2)
def _with_title(name: str) -> bytes:
    if not name:
        return _generated()
    document = json.loads(_generated())
    document["info"]["title"] = name
    return json.dumps(document, ensure_ascii=False).encode()


@cache
def _generated() -> bytes:
    from drf_spectacular.renderers import OpenApiJsonRenderer

    from arena_site.openapi.schema import ArenaGenerator

    with override("en"):
        schema = ArenaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    rendered: bytes = OpenApiJsonRenderer().render(schema)
    return rendered


@method_decorator(public, name="dispatch")
class Schema(APIView):
    """OpenAPI 3.1 document of the whole API except this view."""

    schema = None

    def get(self, request: Request) -> HttpResponse:
        return HttpResponse(schema_as_json(), content_type="application/vnd.oai.openapi+json")


@public
@require_safe
def documentation(request: HttpRequest) -> HttpResponse:
    return render(request, "api_documentation.html")
