from datetime import timedelta

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

from common.ids import new_public_id


class ImportLook(models.Model):
    """Preview of an import, which its member may apply. A member has one at a time."""

    TTL = timedelta(days=1)

    public_id = models.CharField(max_length=22, unique=True, default=new_public_id, editable=False)
    owner = models.OneToOneField(settings.AUTH_USER_MODEL, models.CASCADE, related_name="import_look")
    file_name = models.CharField(max_length=255)
    # benchmarks.imports.content.Imported as MessagePack, compressed by zlib; empty if the file is refused.
    content = models.BinaryField()
    # A table's bytes, compressed by zlib, and the person's choices, for a preview with other columns.
    source = models.BinaryField(null=True)
    choices = models.JSONField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return self.file_name
