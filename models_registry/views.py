from django.conf import settings
from django.core.paginator import Paginator
from django.db.models import Exists, OuterRef
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from common.caching import public
from common.text.storable import storable
from models_registry import picking
from models_registry.models import LanguageModel, LanguageModelQuerySet, ModelIcon
from models_registry.payloads import model_cards

MODELS_PER_PAGE = 50
YEAR_S = 365 * 24 * 3600


@public
@require_safe
def model_list(request: HttpRequest) -> HttpResponse:
    search = storable(request.GET.get("search", "")).strip()
    page = Paginator(_newest_versions(search), MODELS_PER_PAGE).get_page(request.GET.get("page"))
    gaps = [picking.setup_gap(model) for model in page]
    cards = list(zip(model_cards(page.object_list), gaps, strict=True))
    context = {"page_obj": page, "cards": cards, "search": search}
    return render(request, "models/list.html", context)


def _newest_versions(search: str) -> LanguageModelQuerySet:
    models = LanguageModel.objects.public()
    newer = models.filter(family=OuterRef("family"), version__gt=OuterRef("version")).order_by()
    return models.filter(~Exists(newer)).matching(search)


@public
@require_safe
def choices(request: HttpRequest) -> HttpResponse:
    """Return a picker's rows for a search."""
    key = request.GET.get("picker", "")
    if key not in picking.KINDS:
        raise Http404
    chosen = request.GET.getlist(picking.KINDS[key].name)
    picker = picking.read_picker(key, chosen=chosen, search=request.GET.get("find", ""))
    return render(request, "components/model_rows.html", {"picker": picker})


@require_safe
def icon(request: HttpRequest, digest: str) -> HttpResponse:
    picture = get_object_or_404(ModelIcon, pk=digest)
    is_public = settings.ARENA_ACCESS != "private"
    response = HttpResponse(bytes(picture.content), content_type="image/png")
    response["Cache-Control"] = f"{'public' if is_public else 'private'}, max-age={YEAR_S}, immutable"
    return response
