from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False  # votes can be cast while the index is built

    dependencies = [
        ("battles", "0007_origins_and_decisions"),
    ]

    operations = [
        AddIndexConcurrently(
            model_name="vote",
            index=models.Index(
                condition=models.Q(("excluded_reason", ""), _negated=True),
                fields=["excluded_reason"],
                include=("order", "mode", "origin", "language", "categories"),
                name="excluded_votes_by_origin",
            ),
        ),
    ]
