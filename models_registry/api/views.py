from typing import cast

from django.utils.decorators import method_decorator
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.actor import ActorRequest
from accounts.teams.places import PARAMETER, place_named
from common import caching
from common.api_responses import PayloadResponse, paginated_together
from common.errors import NotFound
from common.payload_types import Page
from models_registry import drawable_cache
from models_registry.models import LanguageModel
from models_registry.payload_types import ModelCardPayload
from models_registry.payloads import model_cards


def _place(request: Request) -> int | None:
    """Return the id of the named team, else of the token's. Raises NotFound as for a model that does not exist."""
    team = place_named(cast(ActorRequest, request._request).actor, request.query_params.get(PARAMETER))
    return None if team is None else team.pk


@method_decorator(caching.public, name="dispatch")
class ModelList(APIView):
    """All models of the place but drafts. With `?drawable=true` only those that battles can start with."""

    def get(self, request: Request) -> PayloadResponse[Page[ModelCardPayload]]:
        place = _place(request)
        models = LanguageModel.objects.in_place(place).public()
        if request.query_params.get("drawable", "").lower() in ("1", "true"):
            models = models.filter(pk__in=[model.pk for model in drawable_cache.roster_of(place).choosable])
        return paginated_together(models, request, model_cards)


@method_decorator(caching.public, name="dispatch")
class ModelDetail(APIView):
    def get(self, request: Request, slug: str) -> PayloadResponse[ModelCardPayload]:
        model = LanguageModel.objects.in_place(_place(request)).public().named([slug]).first()
        if model is None:
            raise NotFound
        return PayloadResponse(model_cards([model])[0])
