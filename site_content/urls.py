from django.urls import path

from site_content import views

app_name = "site_content"

urlpatterns = [
    # These pages need no sign-in, on a private site either.
    path("site/accent/<str:key>.css", views.accent, name="accent"),
    path("site/logo/<str:digest>.png", views.logo, name="logo"),
    path("site/icon/<str:digest>.png", views.icon, name="icon"),
    path("site/<str:page>/", views.page, name="page"),
    path("terms/accept/", views.accept, name="accept_terms"),
]
