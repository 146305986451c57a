from django.urls import path

from metrics.api import views
from metrics.statistics.views import Statistics

urlpatterns = [
    path("metrics/", views.Metrics.as_view(), name="api-metrics"),
    path("metrics/catalogue/", views.Catalogue.as_view(), name="api-metrics-catalogue"),
    path("statistics/", Statistics.as_view(), name="api-statistics"),
]
