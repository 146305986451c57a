from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):

    # People go on voting while the index is built.
    atomic = False

    dependencies = [
        ('battles', '0021_votes_know_their_network'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='vote',
            index=models.Index(fields=['voter', 'created_at'], name='votes_of_a_voter_by_time'),
        ),
    ]
