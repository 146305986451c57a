from django.db import migrations

TALLIES = ("leaderboard_pairtally", "leaderboard_voterpairtally")


class Migration(migrations.Migration):
    """Every run adds to rows that exist: with room beside them, a row's next version stays on its page, and no index
    and half as much of the log is written."""

    dependencies = [
        ("leaderboard", "0009_ranges_with_style_taken_out"),
    ]

    operations = [
        migrations.RunSQL(
            f"ALTER TABLE {table} SET (fillfactor = 50)",
            f"ALTER TABLE {table} RESET (fillfactor)",
        )
        for table in TALLIES
    ]
