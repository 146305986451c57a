from django.urls import path

from leaderboard.api import views
from leaderboard.exports.api import InteractionExport, StarExport, VoteExport
from leaderboard.releases.api import ReleaseDownload, ReleaseList

urlpatterns = [
    path("boards/", views.BoardList.as_view(), name="api-boards"),
    path("leaderboard/", views.Leaderboard.as_view(), name="api-leaderboard"),
    path("leaderboard/models/<str:slug>/", views.ModelStandings.as_view(), name="api-model-standings"),
    path("leaderboard/battles/<str:public_id>/", views.BattlePlaces.as_view(), name="api-battle-places"),
    path("leaderboard/history/", views.History.as_view(), name="api-history"),
    path("leaderboard/head-to-head/", views.HeadToHead.as_view(), name="api-head-to-head"),
    path("leaderboard/matrix/", views.Matrix.as_view(), name="api-matrix"),
    path("leaderboard/snapshots/", views.SnapshotList.as_view(), name="api-snapshots"),
    path("leaderboard/snapshots/<str:public_id>/", views.SnapshotDetail.as_view(), name="api-snapshot"),
    path("exports/votes.<slug:ending>", VoteExport.as_view(), name="api-export-votes"),
    path("exports/stars.<slug:ending>", StarExport.as_view(), name="api-export-stars"),
    path("exports/interactions.<slug:ending>", InteractionExport.as_view(), name="api-export-interactions"),
    path("releases/", ReleaseList.as_view(), name="api-releases"),
    path("releases/<str:day>/<str:name>", ReleaseDownload.as_view(), name="api-release-file"),
]
