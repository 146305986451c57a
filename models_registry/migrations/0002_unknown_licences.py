from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("models_registry", "0001_first_release")]

    operations = [
        migrations.AlterField(
            model_name="languagemodel",
            name="license_kind",
            field=models.CharField(
                choices=[("open", "open"), ("proprietary", "proprietary"), ("unknown", "unknown")], default="unknown",
                max_length=12, verbose_name="licence kind",
            ),
        ),
    ]  # fmt: skip
