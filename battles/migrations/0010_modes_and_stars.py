import battles.models.votes
import django.db.models.deletion
import django.db.models.functions.datetime
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models

NEXT_ORDER = """
CREATE FUNCTION battles_next_star_order() RETURNS bigint LANGUAGE sql VOLATILE AS $$
    INSERT INTO battles_votecounter AS counter (id, last_order) VALUES (2, 1)
    ON CONFLICT (id) DO UPDATE SET last_order = counter.last_order + 1
    RETURNING last_order
$$
"""


class Migration(migrations.Migration):

    dependencies = [
        ('battles', '0009_repeated_prompts_are_found'),
        ('models_registry', '0003_breakers_and_money'),
    ]

    operations = [
        migrations.RunSQL(NEXT_ORDER, "DROP FUNCTION battles_next_star_order"),
        migrations.CreateModel(
            name='StarRating',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('stars', models.PositiveSmallIntegerField()),
                ('order', models.PositiveBigIntegerField(db_default=battles.models.votes.NextStarOrder(), editable=False, unique=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('voter', models.CharField(db_index=True, max_length=40)),
                ('renamed_at', models.DateTimeField(blank=True, null=True)),
            ],
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='vote',
            name='facts_of_a_vote_never_change',
        ),
        migrations.AddField(
            model_name='answer',
            name='stars',
            field=models.PositiveSmallIntegerField(null=True),
        ),
        migrations.AddField(
            model_name='battle',
            name='filters',
            field=models.JSONField(blank=True, db_default={}, default=dict),
        ),
        migrations.AddField(
            model_name='side',
            name='chosen',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name='vote',
            name='mode',
            field=models.CharField(choices=[('blind', 'blind'), ('side_by_side', 'side by side'), ('compare', 'compare'), ('direct', 'direct chat')], db_default='blind', default='blind', max_length=12),
        ),
        migrations.AlterField(
            model_name='battle',
            name='mode',
            field=models.CharField(choices=[('blind', 'blind'), ('side_by_side', 'side by side'), ('compare', 'compare'), ('direct', 'direct chat')], default='blind', max_length=12),
        ),
        migrations.AlterField(
            model_name='side',
            name='position',
            field=models.CharField(choices=[('left', 'left'), ('right', 'right'), ('1', '1'), ('2', '2'), ('3', '3'), ('4', '4'), ('5', '5'), ('6', '6')], max_length=5),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='vote',
            trigger=pgtrigger.compiler.Trigger(name='facts_of_a_vote_never_change', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."battle_id" IS DISTINCT FROM (NEW."battle_id") OR OLD."mode" IS DISTINCT FROM (NEW."mode") OR OLD."choice" IS DISTINCT FROM (NEW."choice") OR OLD."model_left_id" IS DISTINCT FROM (NEW."model_left_id") OR OLD."model_right_id" IS DISTINCT FROM (NEW."model_right_id") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at") OR OLD."order" IS DISTINCT FROM (NEW."order") OR OLD."style" IS DISTINCT FROM (NEW."style") OR OLD."turn_count" IS DISTINCT FROM (NEW."turn_count"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='0420f50fc2684b868e410d264061329536f6de14', operation='UPDATE', pgid='pgtrigger_facts_of_a_vote_never_change_eb722', table='battles_vote', when='BEFORE')),
        ),
        migrations.AddConstraint(
            model_name='battle',
            constraint=models.CheckConstraint(condition=models.Q(('mode', 'blind'), ('filters', {}), _connector='OR'), name='only_a_blind_draw_is_narrowed'),
        ),
        migrations.AddConstraint(
            model_name='side',
            constraint=models.CheckConstraint(condition=models.Q(('position__in', ['left', 'right', '1', '2', '3', '4', '5', '6'])), name='a_side_sits_left_right_or_by_a_number'),
        ),
        migrations.AddConstraint(
            model_name='side',
            constraint=models.CheckConstraint(condition=models.Q(('chosen', True), ('redrawn', True), _negated=True), name='a_chosen_model_is_not_redrawn'),
        ),
        migrations.AddConstraint(
            model_name='vote',
            constraint=models.CheckConstraint(condition=models.Q(('mode__in', ('blind', 'side_by_side'))), name='a_vote_is_on_a_battle_of_two'),
        ),
        migrations.AddField(
            model_name='starrating',
            name='answer',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='ratings', to='battles.answer'),
        ),
        migrations.AddConstraint(
            model_name='starrating',
            constraint=models.CheckConstraint(condition=models.Q(('stars__range', (1, 5))), name='stars_are_one_to_five'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='starrating',
            trigger=pgtrigger.compiler.Trigger(name='given_stars_never_change', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."answer_id" IS DISTINCT FROM (NEW."answer_id") OR OLD."stars" IS DISTINCT FROM (NEW."stars") OR OLD."order" IS DISTINCT FROM (NEW."order") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='a71811d210130c9ef9069c89b04d4bdf3470ddbc', operation='UPDATE', pgid='pgtrigger_given_stars_never_change_6bef8', table='battles_starrating', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='starrating',
            trigger=pgtrigger.compiler.Trigger(name='given_stars_are_never_deleted', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;", hash='50605780b172f0ff516efc177cbcb8739d869fd2', operation='DELETE', pgid='pgtrigger_given_stars_are_never_deleted_ed286', table='battles_starrating', when='BEFORE')),
        ),
    ]
