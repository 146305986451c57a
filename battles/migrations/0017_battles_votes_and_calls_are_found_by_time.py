from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):

    # People go on battling while the indexes are built.
    atomic = False

    dependencies = [
        ('battles', '0016_sessions_are_thrown_away_first'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='battle',
            index=models.Index(fields=['created_at'], name='battles_by_time'),
        ),
        AddIndexConcurrently(
            model_name='call',
            index=models.Index(fields=['started_at'], name='calls_by_time'),
        ),
        AddIndexConcurrently(
            model_name='vote',
            index=models.Index(fields=['created_at'], name='votes_by_time'),
        ),
    ]
