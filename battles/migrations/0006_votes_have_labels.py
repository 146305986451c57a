
import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('battles', '0005_lately_finished_turns_are_found'),
    ]

    operations = [
        migrations.AddField(
            model_name='answer',
            name='names_itself',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name='battle',
            name='labelled_by',
            field=models.CharField(blank=True, db_default='', default='', max_length=60),
        ),
        migrations.AddField(
            model_name='battle',
            name='language',
            field=models.CharField(db_default='und', default='und', max_length=3),
        ),
        migrations.AddField(
            model_name='battle',
            name='prompt_digest',
            field=models.CharField(blank=True, db_default='', default='', max_length=32),
        ),
        migrations.AddField(
            model_name='vote',
            name='categories',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), blank=True, db_default=[], default=list, size=None),
        ),
        migrations.AddField(
            model_name='vote',
            name='labelled_by',
            field=models.CharField(blank=True, db_default='', default='', max_length=60),
        ),
        migrations.AddField(
            model_name='vote',
            name='language',
            field=models.CharField(db_default='und', default='und', max_length=3),
        ),
        migrations.AddField(
            model_name='vote',
            name='prompt_digest',
            field=models.CharField(blank=True, db_collation='C', db_default='', default='', max_length=32),
        ),
    ]
