from django.urls import path

from accounts.teams import views

app_name = "teams"

urlpatterns = [
    path("", views.teams, name="list"),
    path("place/", views.place, name="place"),
    path("join/", views.join, name="join"),
    path("new/", views.new, name="new"),
    path("<str:slug>/", views.team, name="team"),
    path("<str:slug>/leave/", views.leave, name="leave"),
    path("<str:slug>/members/", views.members, name="members"),
    path("<str:slug>/members/<str:public_id>/role/", views.set_role, name="set_role"),
    path("<str:slug>/members/<str:public_id>/remove/", views.remove, name="remove"),
    path("<str:slug>/invitations/", views.invitations, name="invitations"),
    path("<str:slug>/invitations/<str:public_id>/revoke/", views.revoke, name="revoke"),
    path("<str:slug>/settings/", views.edit, name="settings"),
    path("<str:slug>/archive/", views.archive, name="archive"),
]
