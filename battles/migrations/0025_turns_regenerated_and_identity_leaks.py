from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('battles', '0024_plain_help_texts'),
    ]

    operations = [
        migrations.RenameField(model_name='answer', old_name='names_itself', new_name='leaks_identity'),
        migrations.AddField(
            model_name='turn',
            name='regenerated',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.RunSQL(
            'UPDATE battles_turn SET regenerated = true WHERE round > 0',
            'UPDATE battles_turn SET round = 1 WHERE regenerated',
        ),
        migrations.RemoveField(model_name='turn', name='round'),
    ]
