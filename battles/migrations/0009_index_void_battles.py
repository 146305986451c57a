from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False  # battles can begin while the index is built

    dependencies = [
        ("battles", "0008_index_excluded_votes_by_origin"),
    ]

    operations = [
        AddIndexConcurrently(
            model_name="battle",
            index=models.Index(
                condition=models.Q(("voided_at__isnull", False)), fields=["created_at"], name="void_battles_by_time"
            ),
        ),
    ]
