import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):
    """The column keeps its default: processes of the version before, which are still running, number votes by it."""

    dependencies = [
        ('battles', '0019_consent_is_withdrawn'),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name='vote',
            name='facts_of_a_vote_never_change',
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    'ALTER TABLE battles_vote ALTER COLUMN "order" DROP NOT NULL',
                    'ALTER TABLE battles_vote ALTER COLUMN "order" SET NOT NULL',
                ),
            ],
            state_operations=[
                migrations.AlterField(
                    model_name='vote',
                    name='order',
                    field=models.PositiveBigIntegerField(editable=False, null=True, unique=True),
                ),
            ],
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='vote',
            trigger=pgtrigger.compiler.Trigger(name='facts_of_a_vote_never_change', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."battle_id" IS DISTINCT FROM (NEW."battle_id") OR OLD."mode" IS DISTINCT FROM (NEW."mode") OR OLD."choice" IS DISTINCT FROM (NEW."choice") OR OLD."model_left_id" IS DISTINCT FROM (NEW."model_left_id") OR OLD."model_right_id" IS DISTINCT FROM (NEW."model_right_id") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at") OR OLD."style" IS DISTINCT FROM (NEW."style") OR OLD."turn_count" IS DISTINCT FROM (NEW."turn_count"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='69b4270c89b2497ab9490944a9d3407296b621dc', operation='UPDATE', pgid='pgtrigger_facts_of_a_vote_never_change_eb722', table='battles_vote', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='vote',
            trigger=pgtrigger.compiler.Trigger(name='a_votes_number_never_changes', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."order" IS NOT NULL AND OLD."order" IS DISTINCT FROM (NEW."order"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='e5b11ca2f3ef5ce3da7eddb6766c69d1ab6c7f61', operation='UPDATE', pgid='pgtrigger_a_votes_number_never_changes_312aa', table='battles_vote', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='vote',
            trigger=pgtrigger.compiler.Trigger(name='a_vote_is_numbered_at_commit', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (NEW."order" IS NULL)', constraint='CONSTRAINT', func='\n                    UPDATE battles_vote SET "order" = battles_next_vote_order() WHERE id = NEW.id;\n                    RETURN NULL;\n                ', hash='dd1aea8ee9ca863bf227d12b9a0dda804f2b2f7b', operation='INSERT', pgid='pgtrigger_a_vote_is_numbered_at_commit_c179e', table='battles_vote', timing='DEFERRABLE INITIALLY DEFERRED', when='AFTER')),
        ),
    ]
