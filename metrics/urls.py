from django.contrib import admin
from django.urls import path

from metrics import views
from metrics.chart_list import FIRST, PAGES

app_name = "metrics"
urlpatterns = [
    path("" if page is FIRST else f"{page.slug}/", admin.site.admin_view(views.operators), {"page": page}, page.slug)
    for page in PAGES
]
