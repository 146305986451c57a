from django.urls import path

from accounts.api import views

urlpatterns = [
    path("me/", views.Me.as_view(), name="api-me"),
    path("me/export/", views.Export.as_view(), name="api-my-data"),
    path("me/browsers/", views.Browsers.as_view(), name="api-browsers"),
    path("me/browsers/others/", views.OtherBrowsers.as_view(), name="api-other-browsers"),
    path("me/browsers/<str:public_id>/", views.Browser.as_view(), name="api-browser"),
    path("me/tokens/", views.Tokens.as_view(), name="api-tokens"),
    path("me/tokens/<str:public_id>/", views.Token.as_view(), name="api-token"),
]
