from django.urls import path

from accounts import api

urlpatterns = [
    path("me/", api.Me.as_view(), name="api-me"),
    path("me/export/", api.Export.as_view(), name="api-my-data"),
    path("me/browsers/", api.Browsers.as_view(), name="api-browsers"),
    path("me/browsers/others/", api.OtherBrowsers.as_view(), name="api-other-browsers"),
    path("me/browsers/<str:public_id>/", api.Browser.as_view(), name="api-browser"),
    path("me/tokens/", api.Tokens.as_view(), name="api-tokens"),
    path("me/tokens/<str:public_id>/", api.Token.as_view(), name="api-token"),
]
