from rest_framework.routers import SimpleRouter

from uploads.api import views

router = SimpleRouter()
router.register("uploads", views.UploadViewSet, basename="api-upload")

urlpatterns = router.urls
