"""The public list of models."""

from typing import Any

from django.utils.decorators import method_decorator
from rest_framework.generics import ListAPIView, RetrieveAPIView
from rest_framework.serializers import BaseSerializer

from common import caching
from models_registry import drawable_cache
from models_registry.models import LanguageModel, LanguageModelQuerySet
from models_registry.payloads import model_summary


class ModelSerializer(BaseSerializer[LanguageModel]):
    def to_representation(self, instance: LanguageModel) -> dict[str, Any]:
        return model_summary(instance)


@method_decorator(caching.public, name="dispatch")
class ModelList(ListAPIView[LanguageModel]):
    """Every model that may be seen: all but drafts. With `?drawable=true` those that battles may begin with."""

    serializer_class = ModelSerializer

    def get_queryset(self) -> LanguageModelQuerySet:
        public = LanguageModel.objects.public()
        if self.request.query_params.get("drawable", "").lower() in ("1", "true"):
            return public.filter(pk__in=[model.pk for model in drawable_cache.read().choosable])
        return public


@method_decorator(caching.public, name="dispatch")
class ModelDetail(RetrieveAPIView[LanguageModel]):
    """One model by its id, which is its slug."""

    queryset = LanguageModel.objects.public()
    serializer_class = ModelSerializer
    lookup_field = "slug"
