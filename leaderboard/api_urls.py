from django.urls import path

from leaderboard import api
from leaderboard.exports.api import StarExport, VoteExport

urlpatterns = [
    path("boards/", api.BoardList.as_view(), name="api-boards"),
    path("leaderboard/", api.Leaderboard.as_view(), name="api-leaderboard"),
    path("leaderboard/models/<str:slug>/", api.ModelStandings.as_view(), name="api-model-standings"),
    path("leaderboard/battles/<str:public_id>/", api.BattlePlaces.as_view(), name="api-battle-places"),
    path("leaderboard/history/", api.History.as_view(), name="api-history"),
    path("leaderboard/head-to-head/", api.HeadToHead.as_view(), name="api-head-to-head"),
    path("leaderboard/matrix/", api.Matrix.as_view(), name="api-matrix"),
    path("leaderboard/snapshots/", api.SnapshotList.as_view(), name="api-snapshots"),
    path("leaderboard/snapshots/<str:public_id>/", api.SnapshotDetail.as_view(), name="api-snapshot"),
    path("exports/votes.<slug:ending>", VoteExport.as_view(), name="api-export-votes"),
    path("exports/stars.<slug:ending>", StarExport.as_view(), name="api-export-stars"),
]
