from django.urls import path

from battles import model_test_admin, report_views, session_views, share_views, views

app_name = "battles"

urlpatterns = [
    path("", views.new, name="new"),
    path("sessions/", session_views.sessions, name="sessions"),
    path("sessions/consent/withdraw/", share_views.withdraw_every_consent, name="withdraw_every_consent"),
    path("s/<str:public_id>/", views.session, name="session"),
    path("s/<str:public_id>/battles/", views.new_battle, name="new_battle"),
    path("s/<str:public_id>/rename/", session_views.rename, name="rename_session"),
    path("s/<str:public_id>/archive/", session_views.archive, name="archive_session"),
    path("s/<str:public_id>/row/", session_views.row, name="session_row"),
    path("s/<str:public_id>/discard/", session_views.discard, name="discard_session"),
    path("s/<str:public_id>/restore/", session_views.restore, name="restore_session"),
    path("s/<str:public_id>/delete/", session_views.delete, name="delete_session"),
    path("s/<str:public_id>/export/", session_views.export, name="export_session"),
    path("battles/<str:public_id>/", views.battle, name="battle"),
    path("battles/<str:public_id>/vote/", views.vote, name="vote"),
    path("battles/<str:public_id>/feedback/", views.feedback, name="feedback"),
    path("battles/<str:public_id>/messages/", views.follow_up, name="follow_up"),
    path("battles/<str:public_id>/stop/", views.stop, name="stop"),
    path("battles/<str:public_id>/regenerate/", views.regenerate, name="regenerate"),
    path("battles/<str:public_id>/report/", report_views.report, name="report"),
    path("battles/<str:public_id>/publish/", share_views.publish, name="publish"),
    path("battles/<str:public_id>/withdraw/", share_views.withdraw, name="withdraw"),
    path("battles/<str:public_id>/consent/withdraw/", share_views.withdraw_consent, name="withdraw_consent"),
    path("b/<str:share_id>/", share_views.shared, name="shared"),
    path("b/<str:share_id>/export/", share_views.export_shared, name="export_shared"),
    path("answers/<str:public_id>/rating/", views.stars, name="stars"),
    path("stream/<str:token>/", views.stream, name="stream"),
    path("stream/model-test/<str:token>/", model_test_admin.stream, name="model_test_stream"),
]
