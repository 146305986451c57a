import django.contrib.postgres.fields
import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('battles', '0007_the_database_numbers_votes'),
    ]

    operations = [
        migrations.CreateModel(
            name='Category',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.SlugField(max_length=40, unique=True, verbose_name='address')),
                ('name', models.CharField(max_length=80, verbose_name='name')),
                ('description', models.TextField(blank=True, max_length=500, verbose_name='description')),
                ('is_active', models.BooleanField(default=True, verbose_name='in use')),
                ('phrases', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=80), blank=True, default=list, size=None, verbose_name='words or phrases')),
                ('languages', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=3), blank=True, default=list, size=None, verbose_name='languages')),
                ('fewest_characters', models.PositiveIntegerField(default=0, validators=[django.core.validators.MaxValueValidator(1000000)], verbose_name='characters, at least')),
                ('fewest_turns', models.PositiveSmallIntegerField(default=1, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(100)], verbose_name='turns, at least')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'verbose_name_plural': 'categories',
                'ordering': ['name'],
            },
        ),
        migrations.AddConstraint(
            model_name='category',
            constraint=models.CheckConstraint(condition=models.Q(('fewest_characters', 0), ('fewest_turns__lte', 1), ('languages', []), ('phrases', []), _negated=True), name='a_category_has_a_rule', violation_error_message='Say what belongs to it: words, languages, a length or a number of turns.'),
        ),
    ]
