from django.urls import path

from models_registry.api import views

urlpatterns = [
    path("models/", views.ModelList.as_view(), name="api-models"),
    path("models/<str:slug>/", views.ModelDetail.as_view(), name="api-model"),
]
