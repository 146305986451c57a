from django.urls import path

from accounts.api import teams, views

urlpatterns = [
    path("me/", views.Me.as_view(), name="api-me"),
    path("me/export/", views.Export.as_view(), name="api-my-data"),
    path("me/browsers/", views.Browsers.as_view(), name="api-browsers"),
    path("me/browsers/others/", views.OtherBrowsers.as_view(), name="api-other-browsers"),
    path("me/browsers/<str:public_id>/", views.Browser.as_view(), name="api-browser"),
    path("me/tokens/", views.Tokens.as_view(), name="api-tokens"),
    path("me/tokens/<str:public_id>/", views.Token.as_view(), name="api-token"),
    path("teams/", teams.Teams.as_view(), name="api-teams"),
    path("teams/<str:slug>/", teams.OneTeam.as_view(), name="api-team"),
    path("teams/<str:slug>/members/", teams.Members.as_view(), name="api-team-members"),
    path("teams/<str:slug>/members/<str:public_id>/", teams.Member.as_view(), name="api-team-member"),
    path("teams/<str:slug>/invitations/", teams.Invitations.as_view(), name="api-team-invitations"),
    path("teams/<str:slug>/invitations/<str:public_id>/", teams.OneInvitation.as_view(), name="api-team-invitation"),
]
