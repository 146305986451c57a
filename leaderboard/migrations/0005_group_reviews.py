
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0004_add_tier_and_both_bad_design_effect'),
        ('models_registry', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='anomalyreview',
            name='a_voter_is_reviewed_once_at_a_time',
        ),
        migrations.AddField(
            model_name='anomalyreview',
            name='first_day',
            field=models.DateField(null=True),
        ),
        migrations.AddField(
            model_name='anomalyreview',
            name='group',
            field=models.CharField(blank=True, choices=[('network', 'new voters of one network'), ('invitation', 'new voters invited by one person'), ('day', 'new voters of one day'), ('week', 'new voters of one week'), ('month', 'new voters of four weeks')], db_default='', default='', max_length=10),
        ),
        migrations.AddField(
            model_name='anomalyreview',
            name='member_key',
            field=models.CharField(blank=True, db_default='', default='', max_length=40),
        ),
        migrations.AddField(
            model_name='anomalyreview',
            name='model',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='models_registry.languagemodel'),
        ),
        migrations.AddField(
            model_name='anomalyreview',
            name='over_cap',
            field=models.BooleanField(db_default=False, default=False),
        ),
        # The last release has one open review per voter, and decides a group's review like any other.
        migrations.RunSQL(
            migrations.RunSQL.noop,
            """UPDATE leaderboard_anomalyreview SET voter = 'group:' || id WHERE "group" <> ''""",
        ),
        migrations.AddConstraint(
            model_name='anomalyreview',
            constraint=models.UniqueConstraint(condition=models.Q(('group', ''), ('state', 'open')), fields=('voter',), name='a_voter_has_one_open_review'),
        ),
        migrations.AddConstraint(
            model_name='anomalyreview',
            constraint=models.UniqueConstraint(condition=models.Q(('state', 'open'), models.Q(('group', ''), _negated=True)), fields=('group', 'first_day', 'member_key', 'model'), name='a_group_has_one_open_review_per_model'),
        ),
        migrations.AddConstraint(
            model_name='anomalyreview',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('first_day', None), ('group', ''), ('model', None)), models.Q(models.Q(('group', ''), _negated=True), ('first_day__isnull', False), ('model__isnull', False), ('voter', '')), _connector='OR'), name='a_review_is_of_a_voter_or_of_a_group_and_a_model'),
        ),
    ]
