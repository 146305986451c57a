from django.urls import path

from reviews.views import agreement, grading, joining, reports, reviews, second_opinions

app_name = "reviews"

urlpatterns = [
    path("reviews/", reviews.index, name="list"),
    path("reviews/new/", reviews.new, name="new"),
    path("review/<str:public_id>/", reviews.show, name="review"),
    path("review/<str:public_id>/next/", reviews.next_one, name="next"),
    path("review/<str:public_id>/grade/", grading.grade, name="grade"),
    path("review/<str:public_id>/results/", reviews.results, name="results"),
    path("review/<str:public_id>/agreement/", agreement.agreement, name="agreement"),
    path("review/<str:public_id>/agreement/<str:judge_id>/", agreement.disagreements, name="disagreements"),
    path("review/<str:public_id>/export.<str:ending>", agreement.export, name="export"),
    path("review/<str:public_id>/settings/", reviews.settings, name="settings"),
    path("review/<str:public_id>/do/<str:move>/", reviews.move, name="move"),
    path("review/<str:public_id>/people/", joining.show_people, name="people"),
    path("review/<str:public_id>/people/<int:number>/<str:move>/", joining.change_person, name="change_person"),
    path("review/<str:public_id>/codes/", joining.codes, name="codes"),
    path("join/", joining.join, name="join"),
    path("battles/<str:public_id>/second-opinion/", second_opinions.ask, name="second_opinion"),
    path("reports/", reports.reports, name="reports"),
    path("reports/new/", reports.new_report, name="new_report"),
    path("reports/<str:public_id>/", reports.report, name="report"),
    path("reports/<str:public_id>/report.<str:ending>", reports.report_file, name="report_file"),
    path("reports/<str:public_id>/publish/", reports.publish, name="publish_report"),
    path("reports/<str:public_id>/delete/", reports.delete, name="delete_report"),
]
