from django.urls import path

from reviews.views import reports, reviews

app_name = "reviews"

urlpatterns = [
    path("reviews/", reviews.index, name="list"),
    path("reviews/new/", reviews.new, name="new"),
    path("review/<str:public_id>/", reviews.show, name="review"),
    path("review/<str:public_id>/next/", reviews.next_one, name="next"),
    path("review/<str:public_id>/results/", reviews.results, name="results"),
    path("review/<str:public_id>/settings/", reviews.settings, name="settings"),
    path("review/<str:public_id>/do/<str:move>/", reviews.move, name="move"),
    path("reports/", reports.reports, name="reports"),
    path("reports/new/", reports.new_report, name="new_report"),
    path("reports/<str:public_id>/", reports.report, name="report"),
    path("reports/<str:public_id>/report.<str:ending>", reports.report_file, name="report_file"),
    path("reports/<str:public_id>/publish/", reports.publish, name="publish_report"),
    path("reports/<str:public_id>/delete/", reports.delete, name="delete_report"),
]
