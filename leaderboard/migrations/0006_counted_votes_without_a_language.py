from django.db import migrations

# Votes that were counted before there were labels are filed under no category and an undetermined language.
COUNT = """
INSERT INTO leaderboard_pairtally (scope, left_id, right_id, outcome, n)
SELECT 'language:und', left_id, right_id, outcome, n FROM leaderboard_pairtally WHERE scope = 'overall'
ON CONFLICT DO NOTHING
"""


class Migration(migrations.Migration):
    dependencies = [
        ("battles", "0006_votes_have_labels"),
        ("leaderboard", "0005_tallies_without_foreign_keys"),
    ]

    operations = [migrations.RunSQL(COUNT, migrations.RunSQL.noop)]
