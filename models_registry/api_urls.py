from django.urls import path

from models_registry import api

urlpatterns = [
    path("models/", api.ModelList.as_view(), name="api-models"),
    path("models/<str:slug>/", api.ModelDetail.as_view(), name="api-model"),
]
