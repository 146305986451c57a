from rest_framework.routers import SimpleRouter

from battles.api import shares, views

router = SimpleRouter()
router.register("sessions", views.SessionViewSet, basename="api-session")
router.register("battles", views.BattleViewSet, basename="api-battle")
router.register("answers", views.AnswerViewSet, basename="api-answer")
router.register("shares", shares.ShareViewSet, basename="api-share")

urlpatterns = router.urls
