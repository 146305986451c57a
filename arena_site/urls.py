"""Every address of the site."""

from django.contrib import admin
from django.urls import include, path

from arena_site.health import livez, readyz

urlpatterns = [
    path("", include("battles.urls")),
    path("", include("leaderboard.urls")),
    path("accounts/", include("allauth.urls")),
    path("admin/", admin.site.urls),
    path("livez", livez),
    path("readyz", readyz),
    path("api/v1/", include("models_registry.api_urls")),
    path("api/v1/", include("battles.api_urls")),
    path("api/v1/", include("leaderboard.api_urls")),
]
