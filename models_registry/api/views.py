from django.utils.decorators import method_decorator
from rest_framework.request import Request
from rest_framework.views import APIView

from common import caching
from common.api_responses import PayloadResponse, paginated_together
from common.errors import NotFound
from common.payload_types import Page
from models_registry import drawable_cache
from models_registry.models import LanguageModel
from models_registry.payload_types import ModelCardPayload
from models_registry.payloads import model_cards


@method_decorator(caching.public, name="dispatch")
class ModelList(APIView):
    """All models but drafts. With `?drawable=true` only those that battles can start with."""

    def get(self, request: Request) -> PayloadResponse[Page[ModelCardPayload]]:
        models = LanguageModel.objects.public()
        if request.query_params.get("drawable", "").lower() in ("1", "true"):
            models = models.filter(pk__in=[model.pk for model in drawable_cache.cached_roster().choosable])
        return paginated_together(models, request, model_cards)


@method_decorator(caching.public, name="dispatch")
class ModelDetail(APIView):
    def get(self, request: Request, slug: str) -> PayloadResponse[ModelCardPayload]:
        model = LanguageModel.objects.public().filter(slug=slug).first()
        if model is None:
            raise NotFound
        return PayloadResponse(model_cards([model])[0])
