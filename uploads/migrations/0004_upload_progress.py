from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("uploads", "0003_upload_encoding")]

    operations = [
        migrations.AddField(model_name="upload", name="pages_read", field=models.PositiveIntegerField(null=True))
    ]
