from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('battles', '0013_concealed_names'),
    ]

    operations = [
        migrations.AddField(
            model_name='turn',
            name='trace',
            field=models.CharField(blank=True, db_default='', default='', editable=False, max_length=55),
        ),
    ]
