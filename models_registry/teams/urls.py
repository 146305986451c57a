from django.urls import path

from models_registry.teams import views

app_name = "team_models"
urlpatterns = [
    path("", views.index, name="list"),
    path("choices/", views.choices, name="choices"),
    path("site/", views.site_models, name="site_models"),
    path("providers/new/", views.new_provider, name="new_provider"),
    path("providers/<int:provider_id>/", views.provider, name="provider"),
    path("providers/<int:provider_id>/list/", views.fetch_list, name="fetch_list"),
    path("providers/<int:provider_id>/add/", views.add_models, name="add_models"),
    path("providers/<int:provider_id>/changes/<int:change_id>/", views.decide_change, name="decide_change"),
    path("providers/<int:provider_id>/remove/", views.remove_provider, name="remove_provider"),
    path("<int:model_id>/", views.model, name="model"),
    path("<int:model_id>/status/", views.set_status, name="set_status"),
]
