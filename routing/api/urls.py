from django.urls import path
from rest_framework.routers import SimpleRouter

from routing.api import views

router = SimpleRouter()
router.register("route/decisions", views.DecisionViewSet, basename="api-decision")

urlpatterns = [
    path("route/", views.Route.as_view(), name="api-route"),
    path("route/snapshots/", views.SnapshotList.as_view(), name="api-router-snapshots"),
    *router.urls,
]
