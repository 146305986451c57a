from django.urls import path
from rest_framework.routers import SimpleRouter

from reviews.api.reviews import NextBattle, ReviewViewSet

router = SimpleRouter()
router.register("reviews", ReviewViewSet, basename="api-review")

urlpatterns = [
    *router.urls,
    path("reviews/<str:public_id>/next/", NextBattle.as_view({"post": "create"}), name="api-review-next"),
]
