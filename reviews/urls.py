from django.urls import path

from reviews.views import reviews

app_name = "reviews"

urlpatterns = [
    path("reviews/", reviews.index, name="list"),
    path("reviews/new/", reviews.new, name="new"),
    path("review/<str:public_id>/", reviews.show, name="review"),
    path("review/<str:public_id>/next/", reviews.next_one, name="next"),
    path("review/<str:public_id>/results/", reviews.results, name="results"),
    path("review/<str:public_id>/settings/", reviews.settings, name="settings"),
    path("review/<str:public_id>/do/<str:move>/", reviews.move, name="move"),
]
