from django.urls import path

from models_registry import views

app_name = "models"
urlpatterns = [
    path("", views.model_list, name="list"),
    path("choices/", views.choices, name="choices"),
    path("icons/<str:digest>.png", views.icon, name="icon"),
]
