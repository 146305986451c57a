from django.urls import path

from routing.teams import views

app_name = "team_rules"
urlpatterns = [
    path("", views.index, name="list"),
    path("new/", views.new, name="new"),
    path("<int:rule_id>/", views.edit, name="edit"),
    path("<int:rule_id>/switch/", views.switch, name="switch"),
    path("<int:rule_id>/up/", views.up, name="up"),
    path("<int:rule_id>/remove/", views.remove, name="remove"),
]
