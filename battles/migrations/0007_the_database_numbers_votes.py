import battles.models.votes
from django.db import migrations, models

NEXT_ORDER = """
CREATE FUNCTION battles_next_vote_order() RETURNS bigint LANGUAGE sql VOLATILE AS $$
    INSERT INTO battles_votecounter AS counter (id, last_order) VALUES (1, 1)
    ON CONFLICT (id) DO UPDATE SET last_order = counter.last_order + 1
    RETURNING last_order
$$
"""


class Migration(migrations.Migration):

    dependencies = [
        ('battles', '0006_votes_have_labels'),
    ]

    operations = [
        migrations.RunSQL(NEXT_ORDER, "DROP FUNCTION battles_next_vote_order"),
        migrations.AlterField(
            model_name='vote',
            name='order',
            field=models.PositiveBigIntegerField(db_default=battles.models.votes.NextOrder(), editable=False, unique=True),
        ),
    ]
