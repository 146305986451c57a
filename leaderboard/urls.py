from django.urls import path

from leaderboard import views

app_name = "leaderboard"
urlpatterns = [
    path("data/", views.data, name="data"),
    path("leaderboard/", views.board, name="board"),
    path("teams/<str:slug>/boards/", views.team_boards, name="team_boards"),
    path("leaderboard/mine/", views.own_board, name="own_board"),
    path("teams/<str:slug>/taste/", views.team_taste, name="team_taste"),
    path("leaderboard/charts/", views.charts, name="charts"),
    path("leaderboard/stream/", views.stream, name="stream"),
    path("leaderboard/models/<str:slug>/", views.model, name="model"),
    path("leaderboard/compare/", views.compare_choice, name="compare_choice"),
    path("leaderboard/compare/<str:a>/<str:b>/", views.compare, name="compare"),
    path("leaderboard/snapshots/", views.snapshot_list, name="snapshots"),
    path("leaderboard/snapshots/<str:public_id>/", views.snapshot, name="snapshot"),
    path("leaderboard/snapshots/<str:public_id>/changes/", views.snapshot_changes, name="snapshot_changes"),
    path("leaderboard/method/", views.method, name="method"),
]
