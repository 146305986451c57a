from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps
from django.db.models.functions import Now
from pgtrigger.compiler import Trigger, UpsertTriggerSql
from pgtrigger.migrations import AddTrigger

from common.ids import new_public_id

# Inactive: an operator chooses the models and switches them on.
EXAMPLES = [
    {"order": 10, "note": "Example: tools", "needs_tools": "yes", "target": "model"},
    {"order": 20, "note": "Example: own data", "data_loaded": "yes", "target": "model"},
    {"order": 1000, "note": "Example: all others", "target": "arena"},
]


def add_examples(apps: StateApps, editor: BaseDatabaseSchemaEditor) -> None:
    rules = apps.get_model("routing", "Rule").objects.using(editor.connection.alias)
    for example in EXAMPLES:
        rules.create(is_active=False, **example)


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "0001_first_release"),
        ("battles", "0001_first_release"),
        ("leaderboard", "0001_first_release"),
        ("models_registry", "0001_first_release"),
    ]

    operations = [
        migrations.CreateModel(
            name="DecisionOutcome",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("decision", models.OneToOneField(on_delete=models.CASCADE, related_name="outcome", to="battles.routingdecision")),
                ("good", models.BooleanField(null=True)),
                ("better", models.CharField(blank=True, choices=[("model", "the chosen model"), ("runner_up", "the second best")], max_length=9)),
                ("created_at", models.DateTimeField(db_default=Now())),
            ],
            options={
                "verbose_name": "reported outcome",
                "verbose_name_plural": "reported outcomes",
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("good__isnull", True), ("better", ""), _connector="XOR"), name="an_outcome_is_good_or_better_not_both"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Rule",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("order", models.PositiveIntegerField(default=100, verbose_name="order")),
                ("note", models.CharField(blank=True, max_length=200, verbose_name="note")),
                ("is_active", models.BooleanField(default=False, verbose_name="active")),
                ("category", models.CharField(blank=True, max_length=40, verbose_name="category")),
                ("language", models.CharField(blank=True, max_length=3, verbose_name="language")),
                ("min_characters", models.PositiveIntegerField(blank=True, null=True, verbose_name="characters, at least")),
                ("max_characters", models.PositiveIntegerField(blank=True, null=True, verbose_name="characters, at most")),
                ("needs_tools", models.CharField(blank=True, choices=[("", "either"), ("yes", "yes"), ("no", "no")], max_length=3, verbose_name="with the caller's tools")),
                ("needs_images", models.CharField(blank=True, choices=[("", "either"), ("yes", "yes"), ("no", "no")], max_length=3, verbose_name="with images")),
                ("data_loaded", models.CharField(blank=True, choices=[("", "either"), ("yes", "yes"), ("no", "no")], max_length=3, verbose_name="with the caller's own data")),
                ("workflow", models.CharField(blank=True, max_length=40, verbose_name="workflow")),
                ("token", models.ForeignKey(blank=True, null=True, on_delete=models.CASCADE, related_name="+", to="accounts.apitoken", verbose_name="token")),
                ("target", models.CharField(choices=[("model", "one model"), ("arena", "battle"), ("pool", "choice from a pool")], max_length=5, verbose_name="target")),
                ("model", models.ForeignKey(blank=True, null=True, on_delete=models.PROTECT, related_name="+", to="models_registry.languagemodel", verbose_name="model")),
                ("pool", ArrayField(base_field=models.CharField(max_length=120), blank=True, default=list, size=None, verbose_name="pool")),
                ("dial", models.FloatField(blank=True, null=True, validators=[MinValueValidator(0), MaxValueValidator(1)], verbose_name="dial")),
                ("max_cost", models.DecimalField(blank=True, decimal_places=8, max_digits=14, null=True, validators=[MinValueValidator(0)], verbose_name="cost of an answer, at most, US dollars")),
            ],
            options={
                "verbose_name": "rule of auto mode",
                "verbose_name_plural": "rules of auto mode",
                "ordering": ["order", "pk"],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(models.Q(("target", "model"), _negated=True), ("model__isnull", False), ("is_active", False), _connector="OR"), name="an_active_rule_for_one_model_names_it", violation_error_message="Choose the model."),
                    models.CheckConstraint(condition=models.Q(models.Q(("target", "pool"), _negated=True), models.Q(("pool", []), _negated=True), _connector="OR"), name="a_rule_for_a_pool_names_its_models", violation_error_message="Name the models of the pool."),
                    models.CheckConstraint(condition=models.Q(("dial", None), ("dial__range", (0, 1)), _connector="OR"), name="a_rules_dial_goes_from_0_to_1"),
                ],
            },
        ),
        migrations.CreateModel(
            name="RoutingThresholds",
            fields=[
                ("id", models.PositiveSmallIntegerField(default=1, editable=False, primary_key=True, serialize=False)),
                ("min_confidence", models.FloatField(default=0.6, help_text="Below it, the page says that the arena is not sure. The choice stays the same.", validators=[MinValueValidator(0), MaxValueValidator(1)], verbose_name="confidence of a choice, at least")),
                ("max_explored_share", models.FloatField(default=0.2, help_text="Of the decisions that could start a battle.", validators=[MinValueValidator(0), MaxValueValidator(1)], verbose_name="share of battles in an hour, at most")),
                ("stay_margin", models.FloatField(default=0.15, help_text="In chances of winning, and only after the subject changed.", validators=[MinValueValidator(0), MaxValueValidator(1)], verbose_name="gain needed to change the model of a conversation")),
            ],
            options={
                "verbose_name": "thresholds of auto mode",
                "verbose_name_plural": "thresholds of auto mode",
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("id", 1)), name="thresholds_of_auto_mode_are_one_row"),
                    models.CheckConstraint(condition=models.Q(("max_explored_share__range", (0, 1)), ("min_confidence__range", (0, 1)), ("stay_margin__range", (0, 1))), name="thresholds_of_auto_mode_are_shares"),
                ],
            },
        ),
        migrations.CreateModel(
            name="RouterSnapshot",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.CharField(default=new_public_id, editable=False, max_length=22, unique=True)),
                ("slot", models.CharField(max_length=60, unique=True)),
                ("state", models.CharField(choices=[("published", "published"), ("few_votes", "too few votes"), ("worse", "not better than the one before"), ("failed", "failed")], max_length=9)),
                ("method", models.CharField(blank=True, max_length=40)),
                ("features_version", models.CharField(blank=True, max_length=40)),
                ("board", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to="leaderboard.aggregationrun")),
                ("parameters", models.BinaryField(default=bytes)),
                ("prices", models.JSONField(default=list)),
                ("heads", models.JSONField(default=list)),
                ("votes", models.PositiveIntegerField(default=0)),
                ("trained_until", models.PositiveBigIntegerField(default=0)),
                ("checksum", models.CharField(blank=True, max_length=64)),
                ("seconds", models.FloatField(default=0)),
                ("message", models.TextField(blank=True)),
                ("created_at", models.DateTimeField(db_default=Now())),
            ],
            options={
                "verbose_name": "training of auto mode",
                "verbose_name_plural": "trainings of auto mode",
                "ordering": ["-pk"],
            },
        ),
        migrations.CreateModel(
            name="RouterEvaluation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.CharField(default=new_public_id, editable=False, max_length=22, unique=True)),
                ("snapshot", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="evaluations", to="routing.routersnapshot")),
                ("source", models.CharField(blank=True, max_length=200)),
                ("votes", models.PositiveIntegerField(default=0)),
                ("result", models.JSONField(default=dict)),
                ("created_at", models.DateTimeField(db_default=Now())),
            ],
            options={
                "verbose_name": "evaluation of auto mode",
                "verbose_name_plural": "evaluations of auto mode",
                "ordering": ["-pk"],
            },
        ),
        AddTrigger(
            model_name="routersnapshot",
            trigger=Trigger(
                name="a_router_snapshot_never_changes",
                sql=UpsertTriggerSql(
                    condition='WHEN (OLD."public_id" IS DISTINCT FROM (NEW."public_id") OR OLD."slot" IS DISTINCT FROM (NEW."slot") OR OLD."state" IS DISTINCT FROM (NEW."state") OR OLD."method" IS DISTINCT FROM (NEW."method") OR OLD."features_version" IS DISTINCT FROM (NEW."features_version") OR OLD."board_id" IS DISTINCT FROM (NEW."board_id") OR OLD."parameters" IS DISTINCT FROM (NEW."parameters") OR OLD."prices" IS DISTINCT FROM (NEW."prices") OR OLD."heads" IS DISTINCT FROM (NEW."heads") OR OLD."votes" IS DISTINCT FROM (NEW."votes") OR OLD."trained_until" IS DISTINCT FROM (NEW."trained_until") OR OLD."checksum" IS DISTINCT FROM (NEW."checksum") OR OLD."seconds" IS DISTINCT FROM (NEW."seconds") OR OLD."message" IS DISTINCT FROM (NEW."message") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at"))',
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                    hash="29dbbc8ec98bf427e38e6ca706ba07061aea97cf",
                    operation="UPDATE",
                    pgid="pgtrigger_a_router_snapshot_never_changes_900f8",
                    table="routing_routersnapshot",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.RunPython(add_examples, migrations.RunPython.noop),
    ]
