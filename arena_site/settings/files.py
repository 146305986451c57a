"""Files that are served, and files that people bring."""

from pathlib import Path

from arena_site.settings.env_file import BASE_DIR
from arena_site.settings.environment import ARENA_DATA_DIR, env

STATIC_URL = "/static/"
STATIC_ROOT = Path(env.str("ARENA_STATIC_ROOT", default=str(ARENA_DATA_DIR / "static")))
STATICFILES_DIRS = [BASE_DIR / "static"]
MEDIA_ROOT = Path(env.str("ARENA_UPLOADS_DIR", default=str(ARENA_DATA_DIR / "uploads")))
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "arena_site.static_files.PackagedFilesFinder",
]
# Uploaded files: in a directory, or in a bucket of S3 or anything that speaks as it does.
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
        "OPTIONS": {
            "bucket_name": ARENA_S3_BUCKET,
            "endpoint_url": env.str("ARENA_S3_ENDPOINT", default="") or None,
            "region_name": env.str("ARENA_S3_REGION", default="") or None,
            "access_key": env.str("ARENA_S3_ACCESS_KEY", default="") or None,
            "secret_key": env.str("ARENA_S3_SECRET_KEY", default="") or None,
            "default_acl": None,
        },
    },
    "staticfiles": {"BACKEND": "arena_site.static_files.SiteStaticFiles"},
}
