from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models
from django.db.models.functions import Now

from common.ids import new_public_id


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "0001_first_release"),
    ]

    operations = [
        migrations.CreateModel(
            name="Upload",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.CharField(default=new_public_id, editable=False, max_length=22, unique=True)),
                ("owner_user", models.ForeignKey(blank=True, null=True, on_delete=models.SET_NULL, related_name="uploads", to=settings.AUTH_USER_MODEL)),
                ("owner_visitor", models.ForeignKey(blank=True, null=True, on_delete=models.SET_NULL, related_name="uploads", to="accounts.visitor")),
                ("name", models.CharField(max_length=120)),
                ("size", models.PositiveBigIntegerField()),
                ("sha256", models.CharField(max_length=64)),
                ("media_type", models.CharField(max_length=100)),
                ("kind", models.CharField(choices=[("document", "document"), ("image", "image")], max_length=8)),
                ("stored_as", models.CharField(blank=True, max_length=60)),
                ("state", models.CharField(choices=[("extracting", "being read"), ("ready", "ready"), ("failed", "cannot be used")], default="extracting", max_length=10)),
                (
                    "error",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("encrypted", "The file is protected by a password. Upload a copy without one."),
                            ("no_text", "The file has no text; its pages seem to be scanned. Upload the pages as images, or a version with text."),
                            ("too_many_pages", "The file has more than 1,000 pages. Upload a part of it."),
                            ("too_long", "The file has more than a million characters. Upload a part of it."),
                            ("too_demanding", "The file is too large to process."),
                            ("too_many_pixels", "The image has more than 24 megapixels. Upload a smaller one."),
                            ("macros", "The file has macros. Upload a copy without them, saved as DOCX, XLSX or PPTX."),
                            ("external_links", "The file loads content from other files. Upload a copy without these links."),
                            ("damaged", "It is damaged."),
                            ("interrupted", "Processing was interrupted. Please upload the file again."),
                        ],
                        max_length=20,
                    ),
                ),
                ("pages", models.PositiveIntegerField(null=True)),
                ("characters", models.PositiveIntegerField(null=True)),
                ("attempt", models.PositiveSmallIntegerField(default=0)),
                ("lease_until", models.DateTimeField(null=True)),
                ("queued_at", models.DateTimeField(db_default=Now())),
                ("used_at", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(db_default=Now())),
                ("deleted_at", models.DateTimeField(null=True)),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("state", "extracting")), fields=["queued_at"], name="uploads_being_read"),
                    models.Index(fields=["owner_user", "-created_at"], name="uploads_of_a_user"),
                    models.Index(fields=["owner_visitor", "-created_at"], name="uploads_of_a_visitor"),
                ],
                "constraints": [
                    models.UniqueConstraint(condition=models.Q(("deleted_at", None)), fields=("owner_user", "sha256"), name="a_member_keeps_a_file_once"),
                    models.UniqueConstraint(condition=models.Q(("deleted_at", None)), fields=("owner_visitor", "sha256"), name="a_visitor_keeps_a_file_once"),
                    models.CheckConstraint(condition=models.Q(("owner_user", None), ("owner_visitor", None), _connector="OR"), name="an_upload_has_one_owner_at_most"),
                    models.CheckConstraint(condition=models.Q(("state", "failed"), ("error", ""), _connector="OR"), name="only_a_failed_upload_has_an_error"),
                    models.CheckConstraint(condition=models.Q(("deleted_at__isnull", False), models.Q(("stored_as", ""), _negated=True), _connector="OR"), name="an_upload_that_is_kept_has_a_file"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Extraction",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("upload", models.OneToOneField(on_delete=models.CASCADE, related_name="extraction", to="uploads.upload")),
                ("pages", ArrayField(base_field=models.TextField(), default=list, size=None)),
                ("image", models.BinaryField(null=True)),
                ("image_type", models.CharField(blank=True, max_length=20)),
                ("width", models.PositiveIntegerField(null=True)),
                ("height", models.PositiveIntegerField(null=True)),
                ("version", models.CharField(max_length=40)),
                ("created_at", models.DateTimeField(db_default=Now())),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=models.Q(models.Q(("image", None), models.Q(("pages", []), _negated=True)), models.Q(("image__isnull", False), ("pages", [])), _connector="OR"), name="an_extraction_is_text_or_an_image"),
                ],
            },
        ),
    ]
