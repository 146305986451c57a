from django.urls import path

from uploads import views

app_name = "uploads"

urlpatterns = [
    path("uploads/", views.library, name="library"),
    path("uploads/<str:public_id>/", views.upload, name="upload"),
    path("uploads/<str:public_id>/chip/", views.chip, name="chip"),
    path("uploads/<str:public_id>/text/", views.text, name="text"),
    path("uploads/<str:public_id>/file/", views.file, name="file"),
    path("uploads/<str:public_id>/image/", views.image, name="image"),
    path("uploads/<str:public_id>/encoding/", views.encoding, name="encoding"),
    path("uploads/<str:public_id>/delete/", views.delete, name="delete"),
]
