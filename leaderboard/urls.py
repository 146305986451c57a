from django.urls import path

from leaderboard import views

app_name = "leaderboard"
urlpatterns = [
    path("leaderboard/", views.board, name="board"),
    path("leaderboard/method/", views.method, name="method"),
]
