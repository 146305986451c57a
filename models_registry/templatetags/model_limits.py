from django import template
from django.db.models import QuerySet

from models_registry.models import ModelLimit

register = template.Library()


@register.simple_tag
def model_limits() -> "QuerySet[ModelLimit]":
    return ModelLimit.objects.select_related("model").order_by("model__name")
