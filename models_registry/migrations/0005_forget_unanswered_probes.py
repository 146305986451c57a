from django.db import migrations


class Migration(migrations.Migration):
    """Keep the times of answered probes only: they tell servers that are away from those that never ran."""

    dependencies = [("models_registry", "0004_choose_budgets")]

    operations = [
        migrations.RunSQL(
            "UPDATE models_registry_provider SET probed_at = NULL WHERE NOT needs_key AND NOT is_answering",
            migrations.RunSQL.noop,
        )
    ]
