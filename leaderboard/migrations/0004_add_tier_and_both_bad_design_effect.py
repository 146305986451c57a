
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0003_count_by_number'),
    ]

    operations = [
        migrations.AddField(
            model_name='standing',
            name='both_bad_design_effect',
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name='standing',
            name='tier',
            field=models.PositiveIntegerField(null=True),
        ),
    ]
