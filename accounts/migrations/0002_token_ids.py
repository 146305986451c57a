from django.db import migrations, models

import common.ids


def name_tokens(apps, schema_editor):
    ApiToken = apps.get_model("accounts", "ApiToken")
    for token in ApiToken.objects.filter(public_id=None).only("pk").iterator():
        ApiToken.objects.filter(pk=token.pk).update(public_id=common.ids.new_public_id())


class Migration(migrations.Migration):
    """Tokens made before get an id of their own too."""

    dependencies = [("accounts", "0001_first")]

    operations = [
        migrations.AddField("apitoken", "public_id", models.CharField(max_length=22, null=True, editable=False)),
        migrations.RunPython(name_tokens, migrations.RunPython.noop),
        migrations.AlterField(
            "apitoken",
            "public_id",
            models.CharField(max_length=22, unique=True, default=common.ids.new_public_id, editable=False),
        ),
    ]
