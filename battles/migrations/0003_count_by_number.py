from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False  # votes can be cast while the index is built

    dependencies = [
        ("battles", "0002_functions_and_triggers"),
    ]

    operations = [
        migrations.AlterField(
            model_name="vote",
            name="processing",
            field=models.CharField(
                choices=[
                    ("pending", "pending"),
                    ("processed", "processed"),
                    ("excluded", "excluded"),
                    ("retracted", "retracted"),
                ],
                db_default="pending",
                default="pending",
                max_length=9,
            ),
        ),
        AddIndexConcurrently(
            model_name="vote",
            index=models.Index(
                condition=models.Q(("excluded_reason", ""), _negated=True),
                fields=["excluded_reason"],
                include=("order", "mode", "language", "categories"),
                name="excluded_votes_by_board",
            ),
        ),
    ]
