from django.urls import path

from site_content.api import views

urlpatterns = [
    path("site/", views.SiteView.as_view()),
    path("site/pages/<str:page>/", views.PageView.as_view()),
    path("me/terms/", views.Terms.as_view()),
]
