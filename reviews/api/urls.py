from django.urls import path
from rest_framework.routers import SimpleRouter

from reviews.api.judged_board import JudgedBattleExport, JudgedBoards
from reviews.api.people import ReviewPeople
from reviews.api.reports import ReportFile, ReportViewSet
from reviews.api.reviews import JoinReview, NextBattle, OpinionExport, ReviewGrades, ReviewViewSet, SecondOpinion

router = SimpleRouter()
router.register("reviews", ReviewViewSet, basename="api-review")
router.register("reports", ReportViewSet, basename="api-report")

urlpatterns = [
    path("leaderboard/judged/", JudgedBoards.as_view(), name="api-judged-boards"),
    path("exports/judged.<slug:ending>", JudgedBattleExport.as_view(), name="api-export-judged"),
    path("reports/<str:public_id>.<str:ending>", ReportFile.as_view(), name="api-report-file"),
    path("reviews/<str:public_id>/export.<str:ending>", OpinionExport.as_view(), name="api-review-export"),
    path("reviews/join/", JoinReview.as_view({"post": "create"}), name="api-review-join"),
    *router.urls,
    path(
        "battles/<str:public_id>/second-opinion/",
        SecondOpinion.as_view({"post": "create"}),
        name="api-second-opinion",
    ),
    path("reviews/<str:public_id>/people/", ReviewPeople.as_view({"get": "list"}), name="api-review-people"),
    *(
        path(
            f"reviews/<str:public_id>/people/<int:number>/{move}/",
            ReviewPeople.as_view({"post": move}),
            name=f"api-review-person-{move}",
        )
        for move in ("aside", "back")
    ),
    path("reviews/<str:public_id>/next/", NextBattle.as_view({"post": "create"}), name="api-review-next"),
    path("reviews/<str:public_id>/grades/", ReviewGrades.as_view({"post": "create"}), name="api-review-grades"),
]
