from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("uploads", "0001_first_release")]

    operations = [
        migrations.AddField(
            model_name="upload", name="notes", field=models.JSONField(blank=True, default=list)
        ),
    ]
