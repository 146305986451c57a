"""Files that are served, and files that people bring."""

from arena_site.settings.env_file import BASE_DIR
from arena_site.settings.environment import ARENA_DATA_DIR, env

STATIC_URL = "/static/"
STATIC_ROOT = ARENA_DATA_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
MEDIA_ROOT = ARENA_DATA_DIR / "uploads"
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "arena_site.static_files.PackagedFilesFinder",
]
# Uploaded files: in a directory, or in a bucket. boto3 reads its endpoint, region and keys from AWS's own variables.
ARENA_S3_BUCKET = env.str("ARENA_S3_BUCKET", default="")
STORAGES = {
    "default": {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        # Nobody else on the machine lists or reads what people bring.
        "OPTIONS": {"directory_permissions_mode": 0o700, "file_permissions_mode": 0o600},
    }
    if not ARENA_S3_BUCKET
    else {
        "BACKEND": "storages.backends.s3.S3Storage",
        "OPTIONS": {"bucket_name": ARENA_S3_BUCKET, "default_acl": None},
    },
    "staticfiles": {"BACKEND": "arena_site.static_files.SiteStaticFiles"},
}
