import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0008_team_links'),
        ('battles', '0010_knew_answers'),
        ('benchmarks', '0003_judges'),
        ('reviews', '0003_joining_and_quality'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='review',
            name='battle',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='second_opinions', to='battles.battle'),
        ),
        migrations.AddIndex(
            model_name='review',
            index=models.Index(condition=models.Q(('battle__isnull', False)), fields=['battle'], name='second_opinions_on_a_battle'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='review',
            trigger=pgtrigger.compiler.Trigger(name='a_second_opinion_keeps_its_battle', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."battle_id" IS DISTINCT FROM (NEW."battle_id"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='b59a0e6d4d82274502ed4b6e107803fa1529134a', operation='UPDATE', pgid='pgtrigger_a_second_opinion_keeps_its_battle_1d3a5', table='reviews_review', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='review',
            trigger=pgtrigger.compiler.Trigger(name='a_second_opinions_battle_is_of_its_place', sql=pgtrigger.compiler.UpsertTriggerSql(constraint='CONSTRAINT', func="\n    IF NEW.battle_id IS NOT NULL AND NOT EXISTS (\n        SELECT FROM battles_battle AS battle JOIN battles_session AS session ON session.id = battle.session_id\n        WHERE battle.id = NEW.battle_id AND battle.mode = 'blind' AND session.team_id IS NOT DISTINCT FROM NEW.team_id\n    ) THEN\n        RAISE EXCEPTION 'a_second_opinions_battle_is_of_its_place' USING ERRCODE = 'check_violation';\n    END IF;\n    RETURN NEW;\n", hash='adb2b6cd8526ff1e2aacdad0d73406224ca3dbf3', operation='INSERT', pgid='pgtrigger_a_second_opinions_battle_is_of_its_place_95306', table='reviews_review', timing='DEFERRABLE INITIALLY IMMEDIATE', when='AFTER')),
        ),
        migrations.AddConstraint(
            model_name='review',
            constraint=models.CheckConstraint(condition=models.Q(('battle', None), ('run', None), _connector='OR'), name='a_second_opinion_is_about_a_battle_alone'),
        ),
        migrations.AddConstraint(
            model_name='review',
            constraint=models.UniqueConstraint(condition=models.Q(('state', 'withdrawn'), _negated=True), fields=('battle',), name='a_battle_has_one_second_opinion'),
        ),
    ]
