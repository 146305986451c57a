from django.urls import path

from metrics import views
from metrics.chart_list import FIRST, OF_TEAMS

app_name = "team_metrics"
urlpatterns = [
    path("" if page is FIRST else f"{page.slug}/", views.of_team, {"page": page}, page.slug) for page in OF_TEAMS
]
