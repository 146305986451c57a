from django.conf import settings
from django.core.paginator import Paginator
from django.db.models import Exists, OuterRef, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from common.caching import public
from common.text.storable import storable
from models_registry.models import LanguageModel, LanguageModelQuerySet, ModelIcon
from models_registry.payloads import model_cards

MODELS_PER_PAGE = 50
YEAR_S = 365 * 24 * 3600


@public
@require_safe
def model_list(request: HttpRequest) -> HttpResponse:
    search = storable(request.GET.get("search", "")).strip()
    page = Paginator(_newest_versions(search), MODELS_PER_PAGE).get_page(request.GET.get("page"))
    context = {"page_obj": page, "cards": model_cards(page.object_list), "search": search}
    return render(request, "models/list.html", context)


def _newest_versions(search: str) -> LanguageModelQuerySet:
    models = LanguageModel.objects.public()
    newer = models.filter(family=OuterRef("family"), version__gt=OuterRef("version")).order_by()
    matches = Q()
    for word in search.split():
        matches &= (
            Q(name__icontains=word) | Q(slug__icontains=word) | Q(organization__icontains=word)
            | Q(provider__name__icontains=word) | Q(license__icontains=word)
        )  # fmt: skip
    return models.filter(~Exists(newer), matches)


@require_safe
def icon(request: HttpRequest, digest: str) -> HttpResponse:
    picture = get_object_or_404(ModelIcon, pk=digest)
    is_public = settings.ARENA_ACCESS != "private"
    response = HttpResponse(bytes(picture.content), content_type="image/png")
    response["Cache-Control"] = f"{'public' if is_public else 'private'}, max-age={YEAR_S}, immutable"
    return response
