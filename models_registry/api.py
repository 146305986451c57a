"""The public list of models."""

from typing import Any

from rest_framework.generics import ListAPIView, RetrieveAPIView
from rest_framework.serializers import BaseSerializer

from models_registry.models import LanguageModel
from models_registry.summary import model_summary


class ModelSerializer(BaseSerializer[LanguageModel]):
    def to_representation(self, instance: LanguageModel) -> dict[str, Any]:
        return model_summary(instance)


class ModelList(ListAPIView[LanguageModel]):
    """Every model that may be seen: all but drafts."""

    queryset = LanguageModel.objects.public()
    serializer_class = ModelSerializer


class ModelDetail(RetrieveAPIView[LanguageModel]):
    """One model by its id, which is its slug."""

    queryset = LanguageModel.objects.public()
    serializer_class = ModelSerializer
    lookup_field = "slug"
