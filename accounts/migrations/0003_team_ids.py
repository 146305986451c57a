from django.db import migrations, models

import common.ids


class Migration(migrations.Migration):
    dependencies = [("accounts", "0002_teams")]

    # A default in AddField would give all rows that exist the same id.
    operations = [
        operation
        for model in ("invitation", "teammember")
        for operation in (
            migrations.AddField(
                model_name=model,
                name="public_id",
                field=models.CharField(editable=False, max_length=22, null=True, unique=True),
            ),
            migrations.AlterField(
                model_name=model,
                name="public_id",
                field=models.CharField(
                    default=common.ids.new_public_id, editable=False, max_length=22, null=True, unique=True
                ),
            ),
        )
    ]
