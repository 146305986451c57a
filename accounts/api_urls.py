from django.urls import path

from accounts import api

urlpatterns = [
    path("me/", api.Me.as_view(), name="api-me"),
    path("me/export/", api.Export.as_view(), name="api-my-data"),
    path("me/tokens/", api.Tokens.as_view(), name="api-tokens"),
    path("me/tokens/<str:public_id>/", api.Token.as_view(), name="api-token"),
]
