from django.urls import path

from battles.views import team_questions

app_name = "team_questions"
urlpatterns = [
    path("", team_questions.index, name="list"),
    path("<str:kind>/new/", team_questions.new, name="new"),
    path("<str:kind>/<int:row_id>/", team_questions.edit, name="edit"),
    path("<str:kind>/<int:row_id>/remove/", team_questions.remove, name="remove"),
]
