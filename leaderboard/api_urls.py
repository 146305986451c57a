from django.urls import path

from leaderboard import api
from leaderboard.exports.api import VoteExport

urlpatterns = [
    path("boards/", api.BoardList.as_view(), name="api-boards"),
    path("leaderboard/", api.Leaderboard.as_view(), name="api-leaderboard"),
    path("leaderboard/snapshots/", api.SnapshotList.as_view(), name="api-snapshots"),
    path("leaderboard/snapshots/<str:public_id>/", api.SnapshotDetail.as_view(), name="api-snapshot"),
    path("exports/votes.<slug:ending>", VoteExport.as_view(), name="api-export-votes"),
]
