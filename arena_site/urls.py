from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path
from django.views.i18n import set_language

from arena_site.health import livez, readyz
from arena_site.openapi.views import Schema, documentation
from arena_site.operations.metrics import metrics
from arena_site.pages import UnknownEndpoint
from arena_site.styleguide import styleguide
from arena_site.teams.views import TeamSpending, spending
from battles.views import team_model_tests
from gateway.views import software
from metrics.statistics.views import statistics

# Staff sign in on the site's own page, which limits wrong passwords and asks for the second factor.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]

api_patterns: list[URLPattern | URLResolver] = [
    path("", include("battles.api.urls")),
    path("", include("models_registry.api.urls")),
    path("", include("uploads.api.urls")),
    path("", include("leaderboard.api.urls")),
    path("", include("benchmarks.api.urls")),
    path("", include("reviews.api.urls")),
    path("", include("routing.api.urls")),
    path("", include("site_content.api.urls")),
    path("", include("metrics.api.urls")),
    path("", include("accounts.api.urls")),
    path("teams/<slug:slug>/spending/", TeamSpending.as_view(), name="api-team-spending"),
    path("schema/", Schema.as_view(), name="api-schema"),
    path("docs/", documentation, name="api-documentation"),
]
# The most frequent requests first, because each path above costs a request some microseconds.
urlpatterns = [
    path("v1/", include("gateway.urls")),
    path("api/v1/", include(api_patterns)),
    path("", include("battles.urls")),
    path("", include("uploads.urls")),
    path("", include("leaderboard.urls")),
    path("benchmarks/", include("benchmarks.urls")),
    path("", include("reviews.urls")),
    path("models/", include("models_registry.urls")),
    path("teams/<slug:slug>/models/<int:model_id>/test/", team_model_tests.start, name="team_model_test"),
    path(
        "teams/<slug:slug>/models/<int:model_id>/test/<str:test_id>/",
        team_model_tests.show,
        name="team_model_test_result",
    ),
    path("teams/<slug:slug>/models/", include("models_registry.teams.urls")),
    path("teams/<slug:slug>/rules/", include("routing.teams.urls")),
    path("teams/<slug:slug>/questions/", include("battles.team_urls")),
    path("teams/<slug:slug>/metrics/", include("metrics.team_urls")),
    path("", include("site_content.urls")),
    path("teams/<slug:slug>/spending/", spending, name="team_spending"),
    path("teams/", include("accounts.teams.urls")),
    path("accounts/", include("accounts.urls")),
    path("accounts/", include("accounts.single_sign_on.urls")),
    path("accounts/", include("allauth.account.urls")),
    path("accounts/2fa/", include("allauth.mfa.urls")),
    path("statistics/", statistics, name="statistics"),
    path("admin/metrics/", include("metrics.urls")),
    path("admin/", admin.site.urls),
    path("language/", set_language, name="set_language"),
    path("styleguide/", styleguide, name="styleguide"),
    path("livez", livez),
    path("readyz", readyz),
    path("metrics", metrics),
    path("software/", software, name="software"),
    # Last, so that it matches only paths of no other view.
    path("api/<path:rest>", UnknownEndpoint.as_view()),
]

handler400 = "arena_site.pages.bad_request"
handler404 = "arena_site.pages.not_found"
handler429 = "arena_site.pages.too_many_requests"
handler500 = "arena_site.pages.server_error"
