from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("uploads", "0002_upload_notes")]

    operations = [
        migrations.AddField(
            model_name="upload", name="encoding", field=models.CharField(blank=True, db_default="", max_length=30)
        ),
    ]
