from django.urls import path
from rest_framework.routers import SimpleRouter

from battles.api import gallery, operator_texts, shares, views, votes

router = SimpleRouter()
router.register("sessions", views.SessionViewSet, basename="api-session")
router.register("battles", views.BattleViewSet, basename="api-battle")
router.register("answers", views.AnswerViewSet, basename="api-answer")
router.register("shares", shares.ShareViewSet, basename="api-share")
router.register("feedback-tags", operator_texts.FeedbackTagViewSet, basename="api-feedback-tag")
router.register("suggestions", operator_texts.SuggestionViewSet, basename="api-suggestion")

urlpatterns = [
    *router.urls,
    path("gallery/", gallery.Gallery.as_view(), name="api-gallery"),
    path("me/votes/", votes.OwnVotes.as_view(), name="api-my-votes"),
]
