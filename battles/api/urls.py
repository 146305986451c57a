from django.urls import path
from rest_framework.routers import SimpleRouter

from battles.api import shares, views, votes

router = SimpleRouter()
router.register("sessions", views.SessionViewSet, basename="api-session")
router.register("battles", views.BattleViewSet, basename="api-battle")
router.register("answers", views.AnswerViewSet, basename="api-answer")
router.register("shares", shares.ShareViewSet, basename="api-share")

urlpatterns = [*router.urls, path("me/votes/", votes.OwnVotes.as_view(), name="api-my-votes")]
