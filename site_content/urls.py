from django.urls import path

from site_content import views

app_name = "site_content"

urlpatterns = [
    # Without signing in, also on a private site.
    path("site/accent/<str:key>.css", views.accent, name="accent"),
    path("site/logo/<str:digest>.png", views.logo, name="logo"),
    path("site/icon/<str:digest>.png", views.icon, name="icon"),
    path("site/<str:page>/", views.page, name="page"),
    path("terms/accept/", views.accept, name="accept_terms"),
]
