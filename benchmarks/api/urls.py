from django.urls import path
from rest_framework.routers import SimpleRouter

from benchmarks.api import runs, templates

router = SimpleRouter()
router.register("benchmarks/templates", templates.TemplateViewSet, basename="api-benchmark-template")
router.register("benchmarks/runs", runs.RunViewSet, basename="api-benchmark-run")
router.register("benchmarks/items", runs.ItemViewSet, basename="api-benchmark-item")

urlpatterns = [*router.urls, path("benchmarks/estimate/", runs.Estimate.as_view(), name="api-benchmark-estimate")]
