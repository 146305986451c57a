from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import migrations, models
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Now
from pgtrigger.compiler import Trigger, UpsertTriggerSql
from pgtrigger.migrations import AddTrigger

from common.ids import new_public_id


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "0001_first_release"),
        ("battles", "0001_first_release"),
        ("models_registry", "0001_first_release"),
        ("uploads", "0001_first_release"),
    ]

    operations = [
        migrations.CreateModel(
            name="Template",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.CharField(default=new_public_id, editable=False, max_length=22, unique=True)),
                ("owner_user", models.ForeignKey(null=True, on_delete=models.SET_NULL, related_name="benchmark_templates", to=settings.AUTH_USER_MODEL)),
                ("slug", models.SlugField(max_length=120)),
                ("name", models.CharField(max_length=120)),
                ("description", models.TextField(blank=True)),
                ("kind", models.CharField(choices=[("text", "text"), ("chat", "chat"), ("choice", "multiple choice"), ("images", "images")], default="text", max_length=6)),
                ("visibility", models.CharField(choices=[("private", "private"), ("site", "the whole site")], default="private", max_length=7)),
                ("held_out", models.BooleanField(default=False)),
                ("archived_at", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(db_default=Now())),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("owner_user", "slug"), name="a_member_names_a_template_once"),
                ],
            },
        ),
        migrations.CreateModel(
            name="TemplateVersion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("template", models.ForeignKey(on_delete=models.PROTECT, related_name="versions", to="benchmarks.template")),
                ("number", models.PositiveIntegerField(default=1)),
                ("state", models.CharField(choices=[("draft", "draft"), ("frozen", "frozen")], default="draft", max_length=6)),
                ("digest", models.CharField(blank=True, max_length=64)),
                ("variables", models.JSONField(blank=True, default=dict)),
                ("parameters", models.JSONField(blank=True, default=dict)),
                ("errors_count", models.CharField(choices=[("missing", "as missing"), ("wrong", "as wrong")], default="missing", max_length=7)),
                ("threshold", models.FloatField(null=True)),
                ("relevant_difference", models.FloatField(null=True)),
                ("case_count", models.PositiveIntegerField(default=0)),
                ("import_report", models.JSONField(blank=True, default=dict)),
                ("frozen_at", models.DateTimeField(null=True)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("template", "number"), name="a_template_has_each_version_once"),
                    models.UniqueConstraint(condition=models.Q(("state", "draft")), fields=("template",), name="a_template_has_one_draft"),
                    models.CheckConstraint(condition=models.Q(("state", "draft"), models.Q(("frozen_at__isnull", False), models.Q(("digest", ""), _negated=True)), _connector="OR"), name="a_frozen_version_has_a_digest"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Prompt",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.ForeignKey(on_delete=models.CASCADE, related_name="prompts", to="benchmarks.templateversion")),
                ("position", models.PositiveSmallIntegerField(default=0)),
                ("label", models.CharField(blank=True, max_length=80)),
                ("messages", models.JSONField()),
                ("turns", models.JSONField(blank=True, default=list)),
            ],
            options={
                "ordering": ["version", "position"],
                "constraints": [
                    models.UniqueConstraint(fields=("version", "position"), name="a_version_has_its_prompts_in_order"),
                    models.CheckConstraint(condition=models.Q(("position__lt", 10)), name="a_version_has_ten_prompts_at_most"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Check",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.ForeignKey(on_delete=models.CASCADE, related_name="checks", to="benchmarks.templateversion")),
                ("position", models.PositiveSmallIntegerField(default=0)),
                ("key", models.CharField(max_length=80)),
                ("scorer", models.CharField(max_length=40)),
                ("target", models.JSONField(blank=True, null=True)),
                ("settings", models.JSONField(blank=True, default=dict)),
                ("extract", models.JSONField(blank=True, default=list)),
                ("weight", models.FloatField(default=1, validators=[MinValueValidator(0)])),
                ("negate", models.BooleanField(default=False)),
                ("threshold", models.FloatField(null=True)),
                ("is_gate", models.BooleanField(default=False)),
                ("metric", models.CharField(blank=True, max_length=80)),
            ],
            options={
                "ordering": ["version", "position", "pk"],
                "constraints": [
                    models.UniqueConstraint(fields=("version", "key"), name="a_version_names_a_check_once"),
                    models.CheckConstraint(condition=models.Q(("weight__gte", 0)), name="a_weight_is_not_negative"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Case",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.ForeignKey(on_delete=models.CASCADE, related_name="cases", to="benchmarks.templateversion")),
                ("position", models.PositiveIntegerField()),
                ("key", models.CharField(max_length=120)),
                ("variables", models.JSONField(blank=True, default=dict)),
                ("expected", models.JSONField(blank=True, default=list)),
                ("messages", models.JSONField(null=True)),
                ("checks", models.JSONField(null=True)),
                ("cluster", models.CharField(blank=True, max_length=120)),
                ("tags", ArrayField(base_field=models.CharField(max_length=80), blank=True, default=list, size=None)),
                ("metadata", models.JSONField(blank=True, default=dict)),
                ("weight", models.FloatField(default=1)),
                ("threshold", models.FloatField(null=True)),
                ("digest", models.CharField(blank=True, max_length=64)),
            ],
            options={
                "ordering": ["version", "position"],
                "indexes": [
                    models.Index(fields=["version", "digest"], name="cases_by_digest"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("version", "key"), name="a_version_has_each_case_once"),
                    models.UniqueConstraint(fields=("version", "position"), name="a_version_has_its_cases_in_order"),
                    models.CheckConstraint(condition=models.Q(("weight__gt", 0)), name="a_case_weighs_more_than_nothing"),
                ],
            },
        ),
        migrations.CreateModel(
            name="RenderedPrompt",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("prompt", models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name="rendered", to="benchmarks.prompt")),
                ("case", models.ForeignKey(on_delete=models.CASCADE, related_name="rendered", to="benchmarks.case")),
                ("messages", models.JSONField()),
                ("turns", models.JSONField(blank=True, default=list)),
                ("digest", models.CharField(max_length=64)),
                ("characters", models.PositiveIntegerField()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("prompt", "case"), name="a_prompt_is_rendered_once_for_a_case"),
                ],
            },
        ),
        migrations.CreateModel(
            name="RenderedTargets",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("case", models.OneToOneField(on_delete=models.CASCADE, related_name="rendered_targets", to="benchmarks.case")),
                ("targets", models.JSONField()),
            ],
            options={
                "verbose_name_plural": "rendered targets",
            },
        ),
        migrations.CreateModel(
            name="CaseFile",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("case", models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name="files", to="benchmarks.case")),
                ("upload", models.ForeignKey(on_delete=models.PROTECT, related_name="case_files", to="uploads.upload")),
                ("variable", models.CharField(max_length=120)),
                ("position", models.PositiveSmallIntegerField()),
            ],
            options={
                "ordering": ["case", "position"],
                "constraints": [
                    models.UniqueConstraint(fields=("case", "position"), name="a_case_has_its_files_in_order"),
                    models.UniqueConstraint(fields=("case", "upload"), name="a_case_has_a_file_once"),
                    models.CheckConstraint(condition=models.Q(("position__lt", 6)), name="a_case_has_six_files_at_most"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Run",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.CharField(default=new_public_id, editable=False, max_length=22, unique=True)),
                ("version", models.ForeignKey(on_delete=models.PROTECT, related_name="runs", to="benchmarks.templateversion")),
                ("checks_version", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="rescored_runs", to="benchmarks.templateversion")),
                ("owner", models.ForeignKey(null=True, on_delete=models.SET_NULL, related_name="benchmark_runs", to=settings.AUTH_USER_MODEL)),
                ("name", models.CharField(blank=True, max_length=120)),
                ("state", models.CharField(choices=[("preparing", "preparing"), ("queued", "ready to start"), ("running", "running"), ("paused", "paused"), ("scoring", "scoring"), ("done", "done"), ("failed", "failed"), ("cancelled", "cancelled")], default="preparing", max_length=9)),
                ("reason", models.CharField(blank=True, max_length=40)),
                ("detail", models.TextField(blank=True)),
                ("starts_at_once", models.BooleanField(default=True)),
                ("repeats", models.PositiveSmallIntegerField(default=1)),
                ("concurrency", models.PositiveSmallIntegerField(default=16)),
                ("attempts", models.PositiveSmallIntegerField(default=3)),
                ("order_seed", models.PositiveBigIntegerField(default=0)),
                ("reuse_days", models.PositiveSmallIntegerField(null=True)),
                ("is_paid", models.BooleanField(default=False)),
                ("budget", models.DecimalField(decimal_places=8, max_digits=14, null=True)),
                ("reserved", models.DecimalField(decimal_places=8, default=0, max_digits=14)),
                ("spent", models.DecimalField(decimal_places=8, default=0, max_digits=14)),
                ("entrant_count", models.PositiveSmallIntegerField(default=0)),
                ("item_count", models.PositiveIntegerField(default=0)),
                ("driven_until", models.DateTimeField(null=True)),
                ("day_wait_until", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(db_default=Now())),
                ("started_at", models.DateTimeField(null=True)),
                ("paced_from", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
                ("published_at", models.DateTimeField(null=True)),
                ("publishes_names", models.BooleanField(db_default=True, default=True)),
                ("published_number", models.PositiveSmallIntegerField(null=True)),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("state__in", ["done", "failed", "cancelled"]), _negated=True), fields=["state"], name="runs_under_way"),
                ],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("budget", None), ("budget__gte", CombinedExpression(models.F("reserved"), "+", models.F("spent"))), _connector="OR"), name="a_run_spends_no_more_than_its_budget"),
                    models.CheckConstraint(condition=models.Q(("reserved__gte", 0)), name="a_run_releases_only_what_it_reserved"),
                    models.CheckConstraint(condition=models.Q(("is_paid", False), ("budget__isnull", False), _connector="OR"), name="a_paid_run_has_a_budget"),
                    models.CheckConstraint(condition=models.Q(("attempts__range", (1, 5)), ("concurrency__range", (1, 256)), ("repeats__range", (1, 32))), name="a_run_keeps_its_limits"),
                    models.CheckConstraint(condition=models.Q(("reuse_days", None), ("reuse_days__range", (1, 365)), _connector="OR"), name="a_run_reuses_answers_of_a_year"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Entrant",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("run", models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name="entrants", to="benchmarks.run")),
                ("position", models.PositiveSmallIntegerField()),
                ("model", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to="models_registry.languagemodel")),
                ("imported", models.CharField(blank=True, max_length=120)),
                ("prompt", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="benchmarks.prompt")),
                ("parameters", models.JSONField(blank=True, default=dict)),
                ("parameters_digest", models.CharField(blank=True, max_length=64)),
                ("label", models.CharField(blank=True, max_length=120)),
                ("is_baseline", models.BooleanField(default=False)),
                ("failures", models.PositiveIntegerField(db_default=0, default=0)),
                ("failing_since", models.DateTimeField(null=True)),
                ("failure", models.CharField(blank=True, db_default="", default="", max_length=40)),
                ("cooldowns", models.PositiveSmallIntegerField(db_default=0, default=0)),
                ("next_try_at", models.DateTimeField(null=True)),
                ("halted", models.CharField(blank=True, db_default="", default="", max_length=40)),
                ("left_out_at", models.DateTimeField(null=True)),
                ("ended_before", models.PositiveIntegerField(db_default=0, default=0)),
            ],
            options={
                "ordering": ["run", "position"],
                "constraints": [
                    models.UniqueConstraint(fields=("run", "position"), name="a_run_has_its_entrants_in_order"),
                    models.UniqueConstraint(fields=("run", "model", "prompt", "parameters_digest"), name="a_run_has_each_entrant_once"),
                    models.UniqueConstraint(condition=models.Q(("is_baseline", True)), fields=("run",), name="a_run_has_one_baseline"),
                    models.CheckConstraint(condition=models.Q(models.Q(("imported", ""), ("model__isnull", False)), models.Q(("model__isnull", True), models.Q(("imported", ""), _negated=True)), _connector="OR"), name="an_entrant_is_asked_or_imported"),
                ],
            },
        ),
        migrations.CreateModel(
            name="RunItem",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("run", models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name="items", to="benchmarks.run")),
                ("entrant", models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name="items", to="benchmarks.entrant")),
                ("case", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="benchmarks.case")),
                ("repeat", models.PositiveSmallIntegerField(default=0)),
                ("turn", models.PositiveSmallIntegerField(default=0)),
                ("position", models.PositiveIntegerField()),
                ("state", models.CharField(choices=[("queued", "queued"), ("answering", "answering"), ("answered", "answered"), ("scored", "scored"), ("failed", "failed"), ("skipped", "skipped"), ("left_out", "left out")], default="queued", max_length=9)),
                ("attempt", models.PositiveSmallIntegerField(default=0)),
                ("fence", models.PositiveBigIntegerField(default=0)),
                ("lease_until", models.DateTimeField(null=True)),
                ("due_at", models.DateTimeField()),
                ("error", models.CharField(blank=True, max_length=40)),
                ("preempted", models.PositiveSmallIntegerField(default=0)),
                ("score", models.FloatField(null=True)),
                ("passed", models.BooleanField(null=True)),
                ("scored_by", models.CharField(blank=True, max_length=64)),
                ("finished_at", models.DateTimeField(null=True)),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("state", "queued")), fields=["entrant", "due_at", "position"], name="items_to_ask"),
                    models.Index(condition=models.Q(("state", "answering")), fields=["run"], name="items_in_work"),
                    models.Index(condition=models.Q(("state", "answered")), fields=["run"], name="items_to_score"),
                    models.Index(condition=models.Q(("state", "failed")), fields=["entrant", "finished_at"], include=("error",), name="failed_items"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("entrant", "case", "repeat"), name="an_entrant_answers_a_case_once"),
                    models.CheckConstraint(condition=models.Q(models.Q(("state", "answering"), _negated=True), ("lease_until__isnull", False), _connector="OR"), name="an_answering_item_has_a_lease"),
                    models.CheckConstraint(condition=models.Q(("state", "failed"), ("error", ""), _connector="OR"), name="only_a_failed_item_has_an_error"),
                ],
            },
        ),
        migrations.CreateModel(
            name="RunCount",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("entrant", models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name="counts", to="benchmarks.entrant")),
                ("state", models.CharField(choices=[("queued", "queued"), ("answering", "answering"), ("answered", "answered"), ("scored", "scored"), ("failed", "failed"), ("skipped", "skipped"), ("left_out", "left out")], max_length=9)),
                ("n", models.IntegerField(default=0)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("entrant", "state"), name="an_entrant_has_each_count_once"),
                    models.CheckConstraint(condition=models.Q(("n__gte", 0)), name="a_count_is_not_negative"),
                ],
            },
        ),
        migrations.CreateModel(
            name="ProviderPace",
            fields=[
                ("provider", models.OneToOneField(on_delete=models.CASCADE, primary_key=True, related_name="pace", serialize=False, to="models_registry.provider")),
                ("allowed", models.PositiveSmallIntegerField(default=8, validators=[MinValueValidator(1), MaxValueValidator(256)])),
                ("answers", models.PositiveIntegerField(default=0)),
                ("halved_at", models.DateTimeField(null=True)),
                ("blocked_until", models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name="Grade",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("item", models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name="grades", to="benchmarks.runitem")),
                ("grader", models.ForeignKey(null=True, on_delete=models.SET_NULL, related_name="benchmark_grades", to=settings.AUTH_USER_MODEL)),
                ("kind", models.CharField(choices=[("pass", "correct or incorrect"), ("stars", "stars")], max_length=5)),
                ("value", models.PositiveSmallIntegerField()),
                ("comment", models.TextField(blank=True, max_length=2000)),
                ("created_at", models.DateTimeField(db_default=Now())),
            ],
            options={
                "indexes": [
                    models.Index(fields=["item", "grader", "-id"], name="grades_of_an_item"),
                ],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(models.Q(("kind", "pass"), ("value__range", (0, 1))), models.Q(("kind", "stars"), ("value__range", (1, 5))), _connector="OR"), name="a_grade_is_pass_or_fail_or_one_to_five_stars"),
                ],
            },
        ),
        migrations.CreateModel(
            name="ImportLook",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.CharField(default=new_public_id, editable=False, max_length=22, unique=True)),
                ("owner", models.OneToOneField(on_delete=models.CASCADE, related_name="import_look", to=settings.AUTH_USER_MODEL)),
                ("file_name", models.CharField(max_length=255)),
                ("content", models.BinaryField()),
                ("source", models.BinaryField(null=True)),
                ("choices", models.JSONField(null=True)),
                ("created_at", models.DateTimeField(db_default=Now())),
            ],
        ),
        migrations.CreateModel(
            name="Reply",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("model", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to="models_registry.languagemodel")),
                ("owner", models.ForeignKey(db_index=False, null=True, on_delete=models.SET_NULL, related_name="benchmark_replies", to=settings.AUTH_USER_MODEL)),
                ("text", models.TextField()),
                ("reasoning", models.TextField(blank=True)),
                ("finish_reason", models.CharField(blank=True, max_length=40)),
                ("answer_key", models.CharField(blank=True, max_length=64)),
                ("call", models.OneToOneField(null=True, on_delete=models.PROTECT, related_name="reply", to="battles.call")),
                ("created_at", models.DateTimeField(db_default=Now())),
            ],
            options={
                "verbose_name_plural": "replies",
                "indexes": [
                    models.Index(fields=["owner"], name="replies_of_a_member"),
                    models.Index(condition=models.Q(("answer_key", ""), _negated=True), fields=["owner", "answer_key", "-created_at"], name="replies_to_reuse"),
                ],
            },
        ),
        migrations.CreateModel(
            name="ItemReply",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("item", models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name="replies", to="benchmarks.runitem")),
                ("turn", models.PositiveSmallIntegerField(default=0)),
                ("reply", models.ForeignKey(on_delete=models.PROTECT, related_name="items", to="benchmarks.reply")),
                ("is_reused", models.BooleanField(db_default=False, default=False)),
            ],
            options={
                "verbose_name_plural": "item replies",
                "constraints": [
                    models.UniqueConstraint(fields=("item", "turn"), name="an_item_has_each_turn_once"),
                ],
            },
        ),
        migrations.CreateModel(
            name="ItemCall",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("item", models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name="calls", to="benchmarks.runitem")),
                ("turn", models.PositiveSmallIntegerField()),
                ("fence", models.PositiveBigIntegerField()),
                ("call", models.OneToOneField(on_delete=models.PROTECT, related_name="item", to="battles.call")),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("item", "turn", "fence"), name="a_claim_of_an_item_calls_once"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Score",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("item", models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name="scores", to="benchmarks.runitem")),
                ("check_key", models.CharField(max_length=80)),
                ("source", models.CharField(default="check", max_length=40)),
                ("value", models.FloatField(null=True)),
                ("passed", models.BooleanField(null=True)),
                ("error", models.CharField(blank=True, max_length=40)),
                ("label", models.CharField(blank=True, db_default="", max_length=100)),
                ("metric", models.CharField(blank=True, db_default="", max_length=80)),
                ("weight", models.FloatField(db_default=1)),
                ("detail", models.JSONField(blank=True, default=dict)),
                ("version", models.CharField(blank=True, max_length=64)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("item", "check_key", "source"), name="an_item_has_each_score_once"),
                    models.CheckConstraint(condition=models.Q(models.Q(("error", ""), ("value__isnull", False)), models.Q(("value__isnull", True), models.Q(("error", ""), _negated=True)), _connector="OR"), name="a_score_has_a_value_or_an_error"),
                ],
            },
        ),
        migrations.CreateModel(
            name="RunReport",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("run", models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name="reports", to="benchmarks.run")),
                ("number", models.PositiveSmallIntegerField()),
                ("version", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="benchmarks.templateversion")),
                ("digest", models.CharField(max_length=64)),
                ("method", models.CharField(max_length=40)),
                ("payload", models.JSONField()),
                ("computed_at", models.DateTimeField(db_default=Now())),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("run", "number"), name="a_run_has_each_report_once"),
                ],
            },
        ),
        AddTrigger(
            model_name="templateversion",
            trigger=Trigger(
                name="what_a_run_used_never_changes",
                sql=UpsertTriggerSql(
                    condition="WHEN (OLD.\"state\" = 'frozen')",
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                    hash="7e565602a41393c82e3e3fe0b77ffb8146af66c8",
                    operation="UPDATE",
                    pgid="pgtrigger_what_a_run_used_never_changes_69cf9",
                    table="benchmarks_templateversion",
                    when="BEFORE",
                ),
            ),
        ),
        AddTrigger(
            model_name="prompt",
            trigger=Trigger(
                name="prompts_of_a_run_never_change",
                sql=UpsertTriggerSql(
                    func="\n            IF EXISTS (\n                SELECT FROM benchmarks_templateversion\n                WHERE id = CASE TG_OP WHEN 'DELETE' THEN OLD.version_id ELSE NEW.version_id END AND state = 'frozen'\n            ) THEN\n                RAISE EXCEPTION 'what_a_run_used_never_changes: % of a frozen version', TG_TABLE_NAME;\n            END IF;\n            IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;\n            RETURN NEW;\n        ",
                    hash="6efc514f5d9ff85eddd5cd7962841f5baa5aec12",
                    operation="INSERT OR UPDATE OR DELETE",
                    pgid="pgtrigger_prompts_of_a_run_never_change_8b0c3",
                    table="benchmarks_prompt",
                    when="BEFORE",
                ),
            ),
        ),
        AddTrigger(
            model_name="check",
            trigger=Trigger(
                name="checks_of_a_run_never_change",
                sql=UpsertTriggerSql(
                    func="\n            IF EXISTS (\n                SELECT FROM benchmarks_templateversion\n                WHERE id = CASE TG_OP WHEN 'DELETE' THEN OLD.version_id ELSE NEW.version_id END AND state = 'frozen'\n            ) THEN\n                RAISE EXCEPTION 'what_a_run_used_never_changes: % of a frozen version', TG_TABLE_NAME;\n            END IF;\n            IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;\n            RETURN NEW;\n        ",
                    hash="b5b6cda92e0b25fce51e914a0d79e3e7c728974d",
                    operation="INSERT OR UPDATE OR DELETE",
                    pgid="pgtrigger_checks_of_a_run_never_change_d8625",
                    table="benchmarks_check",
                    when="BEFORE",
                ),
            ),
        ),
        AddTrigger(
            model_name="case",
            trigger=Trigger(
                name="cases_of_a_run_never_change",
                sql=UpsertTriggerSql(
                    func="\n            IF EXISTS (\n                SELECT FROM benchmarks_templateversion\n                WHERE id = CASE TG_OP WHEN 'DELETE' THEN OLD.version_id ELSE NEW.version_id END AND state = 'frozen'\n            ) THEN\n                RAISE EXCEPTION 'what_a_run_used_never_changes: % of a frozen version', TG_TABLE_NAME;\n            END IF;\n            IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;\n            RETURN NEW;\n        ",
                    hash="ea7e5e82e47314a8819faf6ba71605c8e7da311e",
                    operation="INSERT OR UPDATE OR DELETE",
                    pgid="pgtrigger_cases_of_a_run_never_change_5ba08",
                    table="benchmarks_case",
                    when="BEFORE",
                ),
            ),
        ),
        AddTrigger(
            model_name="casefile",
            trigger=Trigger(
                name="files_of_a_run_never_change",
                sql=UpsertTriggerSql(
                    func="\n                    IF EXISTS (\n                        SELECT FROM benchmarks_case AS owner\n                        JOIN benchmarks_templateversion AS version ON version.id = owner.version_id\n                        WHERE owner.id IN (OLD.case_id, NEW.case_id) AND version.state = 'frozen'\n                    ) THEN\n                        RAISE EXCEPTION 'what_a_run_used_never_changes: % of a frozen version', TG_TABLE_NAME;\n                    END IF;\n                    IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;\n                    RETURN NEW;\n                ",
                    hash="ceebb674238b97205aab07205fc2eb4d51f865fe",
                    operation="INSERT OR UPDATE OR DELETE",
                    pgid="pgtrigger_files_of_a_run_never_change_c0cf9",
                    table="benchmarks_casefile",
                    when="BEFORE",
                ),
            ),
        ),
        AddTrigger(
            model_name="runitem",
            trigger=Trigger(
                name="new_items_are_counted",
                sql=UpsertTriggerSql(
                    func="\n    UPDATE benchmarks_runcount AS counted SET n = counted.n + moved.n\n    FROM (\n        SELECT entrant_id, state, sum(n) AS n FROM (SELECT entrant_id, state, 1 AS n FROM new_items) AS moves\n        GROUP BY entrant_id, state HAVING sum(n) <> 0\n    ) AS moved\n    WHERE counted.entrant_id = moved.entrant_id AND counted.state = moved.state;\n    RETURN NULL;\n",
                    hash="1180b211f554f49fed481af4f3fdc9d02a398adb",
                    level="STATEMENT",
                    operation="INSERT",
                    pgid="pgtrigger_new_items_are_counted_08ce6",
                    referencing="REFERENCING NEW TABLE AS new_items ",
                    table="benchmarks_runitem",
                    when="AFTER",
                ),
            ),
        ),
        AddTrigger(
            model_name="runitem",
            trigger=Trigger(
                name="moved_items_are_counted",
                sql=UpsertTriggerSql(
                    func="\n    UPDATE benchmarks_runcount AS counted SET n = counted.n + moved.n\n    FROM (\n        SELECT entrant_id, state, sum(n) AS n FROM (SELECT entrant_id, state, 1 AS n FROM new_items UNION ALL SELECT entrant_id, state, -1 FROM old_items) AS moves\n        GROUP BY entrant_id, state HAVING sum(n) <> 0\n    ) AS moved\n    WHERE counted.entrant_id = moved.entrant_id AND counted.state = moved.state;\n    RETURN NULL;\n",
                    hash="0e12b933098cf185cf87a0d88663555afdcece66",
                    level="STATEMENT",
                    operation="UPDATE",
                    pgid="pgtrigger_moved_items_are_counted_d3822",
                    referencing="REFERENCING OLD TABLE AS old_items  NEW TABLE AS new_items ",
                    table="benchmarks_runitem",
                    when="AFTER",
                ),
            ),
        ),
        AddTrigger(
            model_name="grade",
            trigger=Trigger(
                name="a_grade_never_changes",
                sql=UpsertTriggerSql(
                    condition='WHEN (OLD."item_id" IS DISTINCT FROM (NEW."item_id") OR OLD."kind" IS DISTINCT FROM (NEW."kind") OR OLD."value" IS DISTINCT FROM (NEW."value") OR OLD."comment" IS DISTINCT FROM (NEW."comment") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at"))',
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                    hash="9033f85dcbfb2b274a9c445746c988c1de411220",
                    operation="UPDATE",
                    pgid="pgtrigger_a_grade_never_changes_cc01e",
                    table="benchmarks_grade",
                    when="BEFORE",
                ),
            ),
        ),
        AddTrigger(
            model_name="grade",
            trigger=Trigger(
                name="a_grade_is_given_to_no_one_else",
                sql=UpsertTriggerSql(
                    condition='WHEN (NEW."grader_id" IS NOT NULL AND OLD."grader_id" IS DISTINCT FROM (NEW."grader_id"))',
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                    hash="1e4f9d9d6eac71dbf35e4e38147ade1a8ff34dac",
                    operation="UPDATE",
                    pgid="pgtrigger_a_grade_is_given_to_no_one_else_3ba58",
                    table="benchmarks_grade",
                    when="BEFORE",
                ),
            ),
        ),
        AddTrigger(
            model_name="runreport",
            trigger=Trigger(
                name="a_report_never_changes", sql=UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash="68c8e0621820247add7f86ea071f164a328f4424", operation="UPDATE", pgid="pgtrigger_a_report_never_changes_86e42", table="benchmarks_runreport", when="BEFORE")
            ),
        ),
    ]
