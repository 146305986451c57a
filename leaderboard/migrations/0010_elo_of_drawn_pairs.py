from django.db import migrations

from leaderboard.sql import read_sql


class Migration(migrations.Migration):

    dependencies = [
        ("leaderboard", "0009_elo_settings"),
        ("battles", "0007_origins_and_decisions"),
    ]

    operations = [
        migrations.RunSQL(read_sql("elo_of_drawn_pairs.sql"), read_sql("elo_settings.sql")),
    ]
