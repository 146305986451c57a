from django.urls import path

from battles.views import battles, reports, sessions, shares, votes

app_name = "battles"

urlpatterns = [
    path("", battles.new, name="new"),
    path("stream/<str:token>/", battles.stream, name="stream"),
    path("sessions/", sessions.sessions, name="sessions"),
    path("sessions/consent/withdraw/", shares.withdraw_every_consent, name="withdraw_every_consent"),
    path("votes/", votes.votes, name="votes"),
    path("s/<str:public_id>/", battles.session, name="session"),
    path("s/<str:public_id>/battles/", battles.new_battle, name="new_battle"),
    path("s/<str:public_id>/rename/", sessions.rename, name="rename_session"),
    path("s/<str:public_id>/archive/", sessions.archive, name="archive_session"),
    path("s/<str:public_id>/share/", sessions.share, name="share_session"),
    path("s/<str:public_id>/row/", sessions.row, name="session_row"),
    path("s/<str:public_id>/discard/", sessions.discard, name="discard_session"),
    path("s/<str:public_id>/restore/", sessions.restore, name="restore_session"),
    path("s/<str:public_id>/delete/", sessions.delete, name="delete_session"),
    path("s/<str:public_id>/export/", sessions.export, name="export_session"),
    path("battles/<str:public_id>/", battles.battle, name="battle"),
    path("battles/<str:public_id>/vote/", battles.vote, name="vote"),
    path("battles/<str:public_id>/feedback/", battles.feedback, name="feedback"),
    path("battles/<str:public_id>/messages/", battles.follow_up, name="follow_up"),
    path("battles/<str:public_id>/stop/", battles.stop, name="stop"),
    path("battles/<str:public_id>/regenerate/", battles.regenerate, name="regenerate"),
    path("battles/<str:public_id>/report/", reports.report, name="report"),
    path("battles/<str:public_id>/publish/", shares.publish, name="publish"),
    path("battles/<str:public_id>/withdraw/", shares.withdraw, name="withdraw"),
    path("battles/<str:public_id>/gallery/", shares.list_in_gallery, name="list_in_gallery"),
    path("battles/<str:public_id>/consent/withdraw/", shares.withdraw_consent, name="withdraw_consent"),
    path("teams/<str:slug>/sessions/<str:public_id>/", shares.team_session, name="team_session"),
    path("gallery/", shares.gallery, name="gallery"),
    path("b/<str:share_id>/", shares.shared, name="shared"),
    path("b/<str:share_id>/export/", shares.export_shared, name="export_shared"),
    path("answers/<str:public_id>/rating/", battles.stars, name="stars"),
]
