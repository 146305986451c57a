from django.db import migrations, models


class Migration(migrations.Migration):
    """The column stays, with a default: processes of the last release read it during an update."""

    dependencies = [
        ("routing", "0002_example_rules"),
    ]

    operations = [
        migrations.AlterField(
            model_name="routingthresholds",
            name="learns_from_outcomes",
            field=models.BooleanField(default=False, db_default=False),
        ),
        migrations.SeparateDatabaseAndState(
            state_operations=[migrations.RemoveField(model_name="routingthresholds", name="learns_from_outcomes")],
        ),
    ]
