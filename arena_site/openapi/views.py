from functools import cache

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.decorators import method_decorator
from django.utils.translation import override
from django.views.decorators.http import require_safe
from rest_framework.request import Request
from rest_framework.views import APIView

from common.caching import public


@cache
def schema_as_json() -> bytes:
    """Return the document in English, generated with the first request."""
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
