from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('models_registry', '0005_charges_of_places'),
    ]

    operations = [
        migrations.AddField(
            model_name='provider',
            name='sends_trace',
            field=models.BooleanField(db_default=False, default=False, verbose_name="receives the trace's id"),
        ),
    ]
