from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.urls import include, path
from django.views.i18n import set_language

from arena_site.health import livez, readyz
from arena_site.openapi.views import Schema, documentation
from arena_site.operations.metrics import metrics
from arena_site.pages import UnknownEndpoint
from arena_site.styleguide import styleguide
from gateway.pages import software

# Staff sign in on the site's own page, which limits wrong passwords and asks for the second factor.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]

urlpatterns = [
    path("v1/", include("gateway.urls")),  # first, because each path above costs these requests some microseconds
    path("", include("battles.urls")),
    path("", include("uploads.urls")),
    path("", include("leaderboard.urls")),
    path("benchmarks/", include("benchmarks.urls")),
    path("models/", include("models_registry.urls")),
    path("", include("site_content.urls")),
    path("accounts/", include("accounts.urls")),
    path("accounts/", include("accounts.single_sign_on.urls")),
    path("accounts/", include("allauth.account.urls")),
    path("accounts/2fa/", include("allauth.mfa.urls")),
    path("admin/", admin.site.urls),
    path("language/", set_language, name="set_language"),
    path("styleguide/", styleguide, name="styleguide"),
    path("livez", livez),
    path("readyz", readyz),
    path("metrics", metrics),
    path("api/v1/", include("models_registry.api.urls")),
    path("api/v1/", include("battles.api.urls")),
    path("api/v1/", include("uploads.api.urls")),
    path("api/v1/", include("leaderboard.api.urls")),
    path("api/v1/", include("benchmarks.api.urls")),
    path("api/v1/", include("routing.api.urls")),
    path("api/v1/", include("site_content.api.urls")),
    path("api/v1/", include("accounts.api.urls")),
    path("software/", software, name="software"),
    path("api/v1/schema/", Schema.as_view(), name="api-schema"),
    path("api/v1/docs/", documentation, name="api-documentation"),
    # Last, so that it matches only paths of no other view.
    path("api/<path:rest>", UnknownEndpoint.as_view()),
]

handler400 = "arena_site.pages.bad_request"
handler404 = "arena_site.pages.not_found"
handler429 = "arena_site.pages.too_many_requests"
handler500 = "arena_site.pages.server_error"
