from django.urls import path
from rest_framework.routers import SimpleRouter

from benchmarks.api import imports, judges, reports, runs, templates

router = SimpleRouter()
router.register("benchmarks/templates", templates.TemplateViewSet, basename="api-benchmark-template")
router.register("benchmarks/runs", runs.RunViewSet, basename="api-benchmark-run")
router.register("benchmarks/runs", reports.RunReportViewSet, basename="api-benchmark-report")
router.register("benchmarks/imports", imports.ImportViewSet, basename="api-benchmark-import")
router.register("benchmarks/items", runs.ItemViewSet, basename="api-benchmark-item")
router.register("benchmarks/runs", judges.JudgementViewSet, basename="api-benchmark-judgement")
router.register("judges", judges.JudgeViewSet, basename="api-judge")

urlpatterns = [
    *router.urls,
    path("benchmarks/estimate/", runs.Estimate.as_view(), name="api-benchmark-estimate"),
    path("benchmarks/heatmap/", reports.HeatMap.as_view(), name="api-benchmark-heatmap"),
    path(
        "benchmarks/templates/<str:public_id>/export.yaml", templates.TemplateExport.as_view(),
        name="api-benchmark-template-export",
    ),
    path(
        "benchmarks/runs/<str:public_id>/export.<str:ending>", reports.RunExport.as_view(),
        name="api-benchmark-export",
    ),
    path(
        "benchmarks/runs/<str:public_id>/judgements.<str:ending>", judges.JudgementExport.as_view(),
        name="api-benchmark-judgement-export",
    ),
]  # fmt: skip
