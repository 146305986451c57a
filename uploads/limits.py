from django.conf import settings

MAX_FILE_MB: int = settings.ARENA_MAX_FILE_MB
