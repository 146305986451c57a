from django.db import migrations, models

from leaderboard.sql import read_sql

# The last release reads the marks: before it runs again, they are set as it would have set them.
MARK_COUNTED_VOTES = """
DROP TRIGGER a_vote_is_counted_once ON battles_vote;
DROP FUNCTION leaderboard_refuse_second_count();
UPDATE battles_vote
SET processing = CASE
    WHEN excluded_reason = '' THEN 'processed' WHEN processing = 'pending' THEN 'excluded' ELSE 'retracted' END
WHERE "order" <= (SELECT max(last_order) FROM leaderboard_aggregationrun WHERE scope = 'overall')
    AND (processing = 'pending' OR (processing = 'processed') <> (excluded_reason = ''));
"""


class Migration(migrations.Migration):
    dependencies = [
        ("battles", "0003_count_by_number"),
        ("leaderboard", "0002_functions_and_triggers"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="aggregationrun",
            index=models.Index(
                condition=models.Q(("scope", "overall")), fields=["last_order"], name="last_counted_vote"
            ),
        ),
        migrations.RunSQL(read_sql("refuse_second_count.sql"), MARK_COUNTED_VOTES),
    ]
