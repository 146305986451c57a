from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):

    # People go on voting while the index is built.
    atomic = False

    dependencies = [
        ('battles', '0008_operators_have_categories'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='vote',
            index=models.Index(condition=models.Q(('prompt_digest', ''), _negated=True), fields=['prompt_digest'], name='votes_by_prompt'),
        ),
    ]
