from rest_framework.routers import SimpleRouter

from uploads import api

router = SimpleRouter()
router.register("uploads", api.UploadViewSet, basename="api-upload")

urlpatterns = router.urls
