from rest_framework.routers import SimpleRouter

from battles import api, api_shares

router = SimpleRouter()
router.register("sessions", api.SessionViewSet, basename="api-session")
router.register("battles", api.BattleViewSet, basename="api-battle")
router.register("answers", api.AnswerViewSet, basename="api-answer")
router.register("shares", api_shares.ShareViewSet, basename="api-share")

urlpatterns = router.urls
