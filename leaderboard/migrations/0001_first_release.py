from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import migrations, models
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Now

import leaderboard.models.releases
from common.ids import new_public_id


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "0001_first_release"),
        ("battles", "0001_first_release"),
        ("models_registry", "0001_first_release"),
    ]

    operations = [
        migrations.CreateModel(
            name="EloRating",
            fields=[
                ("model", models.OneToOneField(on_delete=models.PROTECT, primary_key=True, related_name="elo", serialize=False, to="models_registry.languagemodel")),
                ("rating", models.FloatField(default=1500.0)),
                ("votes", models.PositiveIntegerField(default=0)),
                ("last_order", models.PositiveBigIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name="PairTally",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("scope", models.CharField(max_length=80)),
                ("left", models.ForeignKey(db_constraint=False, db_index=False, on_delete=models.PROTECT, related_name="+", to="models_registry.languagemodel")),
                ("right", models.ForeignKey(db_constraint=False, db_index=False, on_delete=models.PROTECT, related_name="+", to="models_registry.languagemodel")),
                ("outcome", models.CharField(choices=[("left", "left is better"), ("right", "right is better"), ("tie", "tie"), ("both_bad", "both are bad")], max_length=8)),
                ("n", models.PositiveIntegerField()),
            ],
            options={
                "verbose_name_plural": "pair tallies",
                "constraints": [
                    models.UniqueConstraint(fields=("scope", "left", "right", "outcome"), name="a_pair_is_tallied_once_per_outcome"),
                    models.CheckConstraint(condition=models.Q(("n__gte", 0)), name="a_tally_is_never_negative"),
                ],
            },
        ),
        migrations.CreateModel(
            name="VoterPairTally",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("scope", models.CharField(max_length=80)),
                ("voter", models.CharField(max_length=40)),
                ("left", models.ForeignKey(db_constraint=False, db_index=False, on_delete=models.PROTECT, related_name="+", to="models_registry.languagemodel")),
                ("right", models.ForeignKey(db_constraint=False, db_index=False, on_delete=models.PROTECT, related_name="+", to="models_registry.languagemodel")),
                ("outcome", models.CharField(choices=[("left", "left is better"), ("right", "right is better"), ("tie", "tie"), ("both_bad", "both are bad")], max_length=8)),
                ("n", models.PositiveIntegerField()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("scope", "voter", "left", "right", "outcome"), name="a_voters_pair_is_tallied_once_per_outcome"),
                    models.CheckConstraint(condition=models.Q(("n__gte", 0)), name="a_voters_tally_is_never_negative"),
                ],
            },
        ),
        migrations.CreateModel(
            name="TallyCopy",
            fields=[
                ("scope", models.CharField(max_length=80, primary_key=True, serialize=False)),
                ("last_order", models.PositiveBigIntegerField()),
                ("last_change", models.PositiveBigIntegerField()),
                ("contestants", ArrayField(base_field=models.BigIntegerField(), size=None)),
                ("cells", models.BinaryField()),
            ],
            options={
                "verbose_name_plural": "tally copies",
            },
        ),
        migrations.CreateModel(
            name="EloSettings",
            fields=[
                ("id", models.PositiveSmallIntegerField(default=1, editable=False, primary_key=True, serialize=False)),
                ("start", models.FloatField(default=1500.0, help_text="Rating of a model before its first vote.", validators=[MinValueValidator(0), MaxValueValidator(10000)], verbose_name="start")),
                ("k", models.FloatField(default=32.0, help_text="Greatest change of a rating by one vote. After a change all ratings are computed anew.", validators=[MinValueValidator(1), MaxValueValidator(100)], verbose_name="K")),
            ],
            options={
                "verbose_name": "live Elo",
                "verbose_name_plural": "live Elo",
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("id", 1)), name="there_are_one_start_and_one_k"),
                    models.CheckConstraint(condition=models.Q(("k__range", (1, 100)), ("start__range", (0, 10000))), name="start_and_k_are_in_range"),
                ],
            },
        ),
        migrations.CreateModel(
            name="ImportedBoard",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("slug", models.SlugField(max_length=60, unique=True)),
                ("title", models.CharField(max_length=120, verbose_name="title")),
                ("source", models.CharField(blank=True, max_length=300, verbose_name="source")),
                ("licence", models.CharField(blank=True, max_length=120, verbose_name="licence")),
                ("edition", models.PositiveIntegerField(default=0)),
                ("created_at", models.DateTimeField(db_default=Now())),
            ],
        ),
        migrations.CreateModel(
            name="Contestant",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("board", models.ForeignKey(on_delete=models.PROTECT, related_name="contestants", to="leaderboard.importedboard")),
                ("name", models.CharField(max_length=200)),
                ("model", models.ForeignKey(blank=True, null=True, on_delete=models.SET_NULL, related_name="+", to="models_registry.languagemodel")),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("board", "name"), name="a_board_has_each_contestant_once"),
                ],
            },
        ),
        migrations.CreateModel(
            name="ImportedVote",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("board", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="votes", to="leaderboard.importedboard")),
                ("edition", models.PositiveIntegerField()),
                ("order", models.PositiveIntegerField()),
                ("left", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="+", to="leaderboard.contestant")),
                ("right", models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="+", to="leaderboard.contestant")),
                ("outcome", models.CharField(choices=[("left", "left is better"), ("right", "right is better"), ("tie", "tie"), ("both_bad", "both are bad")], max_length=8)),
                ("n", models.PositiveIntegerField(default=1)),
                ("voter", models.CharField(blank=True, max_length=100)),
                ("created_at", models.DateTimeField(null=True)),
                ("category", models.CharField(blank=True, max_length=100)),
                ("style", models.JSONField(null=True)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("board", "edition", "order"), name="an_imported_vote_has_a_place_of_its_own"),
                    models.CheckConstraint(condition=models.Q(("n__gte", 1)), name="an_imported_vote_was_cast"),
                    models.CheckConstraint(condition=models.Q(("left", models.F("right")), _negated=True), name="an_imported_vote_is_about_two_different_contestants"),
                ],
            },
        ),
        migrations.CreateModel(
            name="AggregationRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.CharField(default=new_public_id, editable=False, max_length=22, unique=True)),
                ("scope", models.CharField(default="overall", max_length=80)),
                ("slot", models.CharField(max_length=60)),
                ("state", models.CharField(choices=[("done", "done"), ("unchanged", "nothing new"), ("failed", "failed")], max_length=9)),
                ("method", models.CharField(max_length=40)),
                ("parameters", models.JSONField(default=dict)),
                ("parameters_hash", models.CharField(max_length=64)),
                ("tallies_checksum", models.CharField(blank=True, max_length=64)),
                ("last_order", models.PositiveBigIntegerField(default=0)),
                ("last_change", models.PositiveBigIntegerField(db_default=0, default=0)),
                ("votes_taken", models.PositiveIntegerField(default=0)),
                ("votes_counted", models.PositiveBigIntegerField(default=0)),
                ("votes_excluded", models.JSONField(default=dict)),
                ("facts", models.JSONField(db_default={}, default=dict)),
                ("started_at", models.DateTimeField()),
                ("finished_at", models.DateTimeField()),
                ("duration_ms", models.PositiveIntegerField()),
                ("error", models.TextField(blank=True)),
            ],
            options={
                "ordering": ["-pk"],
                "indexes": [
                    models.Index(fields=["scope", "state", "-id"], name="newest_snapshot_of_a_board"),
                    models.Index(condition=models.Q(("scope", "overall")), fields=["last_order"], name="last_counted_vote"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("slot", "scope"), name="a_board_has_one_run_per_slot"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Standing",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("run", models.ForeignKey(on_delete=models.PROTECT, related_name="standings", to="leaderboard.aggregationrun")),
                ("model", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="standings", to="models_registry.languagemodel")),
                ("contestant", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="standings", to="leaderboard.contestant")),
                ("group", models.PositiveSmallIntegerField(db_default=0, default=0)),
                ("score", models.FloatField(null=True)),
                ("ci_low", models.FloatField(null=True)),
                ("ci_high", models.FloatField(null=True)),
                ("design_effect", models.FloatField(db_default=1.0, default=1.0)),
                ("rank", models.PositiveIntegerField(null=True)),
                ("rank_best", models.PositiveIntegerField(null=True)),
                ("rank_worst", models.PositiveIntegerField(null=True)),
                ("tier", models.PositiveIntegerField(null=True)),
                ("style_score", models.FloatField(null=True)),
                ("style_ci_low", models.FloatField(null=True)),
                ("style_ci_high", models.FloatField(null=True)),
                ("style_rank", models.PositiveIntegerField(null=True)),
                ("style_rank_best", models.PositiveIntegerField(null=True)),
                ("style_rank_worst", models.PositiveIntegerField(null=True)),
                ("elo", models.FloatField(null=True)),
                ("votes", models.PositiveIntegerField()),
                ("wins", models.PositiveIntegerField()),
                ("losses", models.PositiveIntegerField()),
                ("ties", models.PositiveIntegerField()),
                ("both_bad", models.PositiveIntegerField()),
                ("both_bad_design_effect", models.FloatField(null=True)),
                ("preliminary", models.BooleanField()),
                ("median_first_token_ms", models.PositiveIntegerField(null=True)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("run", "model"), name="a_model_stands_once_in_a_snapshot"),
                    models.UniqueConstraint(fields=("run", "contestant"), name="a_contestant_stands_once_in_a_snapshot"),
                    models.CheckConstraint(condition=models.Q(models.Q(("contestant__isnull", True), ("model__isnull", False)), models.Q(("contestant__isnull", False), ("model__isnull", True)), _connector="OR"), name="a_standing_is_a_models_or_a_contestants"),
                ],
            },
        ),
        migrations.CreateModel(
            name="VoteChange",
            fields=[
                ("number", models.BigAutoField(primary_key=True, serialize=False)),
                ("vote", models.ForeignKey(on_delete=models.PROTECT, related_name="changes", to="battles.vote")),
                ("kind", models.CharField(choices=[("excluded", "excluded"), ("restored", "restored"), ("relabelled", "filed under other boards"), ("renamed", "filed under another voter")], max_length=10)),
                ("before", models.JSONField()),
                ("after", models.JSONField()),
                ("reason", models.TextField(blank=True)),
                ("by", models.ForeignKey(null=True, on_delete=models.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("at", models.DateTimeField(db_default=Now())),
            ],
            options={
                "ordering": ["-number"],
            },
        ),
        migrations.CreateModel(
            name="ListedBoard",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("scope", models.CharField(max_length=80, unique=True, verbose_name="board")),
                ("title", models.CharField(blank=True, help_text="Empty: the usual title.", max_length=80, verbose_name="title")),
                ("position", models.PositiveSmallIntegerField(default=32767, help_text="Among boards of its kind: lower numbers first, equal ones by title.", verbose_name="place")),
                ("is_hidden", models.BooleanField(default=False, verbose_name="hidden")),
            ],
            options={
                "verbose_name": "listed board",
                "verbose_name_plural": "listed boards",
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("is_hidden", True), ("scope", "overall"), _negated=True), name="overall_is_not_hidden", violation_error_message="Overall cannot be hidden."),
                ],
            },
        ),
        migrations.CreateModel(
            name="DataPolicy",
            fields=[
                ("id", models.PositiveSmallIntegerField(default=1, editable=False, primary_key=True, serialize=False)),
                ("licence", models.CharField(blank=True, help_text="For example CC BY 4.0. Stated on the data page.", max_length=120, verbose_name="licence")),
                ("licence_url", models.URLField(blank=True, help_text="An address.", verbose_name="text of the licence")),
                ("release_every_days", models.IntegerField(default=0, help_text="0: no scheduled releases.", validators=[leaderboard.models.releases.validate_interval, MaxValueValidator(3660)], verbose_name="days between releases")),
                ("embargo_days", models.IntegerField(default=0, help_text="Days from the last vote of a release to its publication.", validators=[leaderboard.models.releases.validate_embargo, MaxValueValidator(3660)], verbose_name="embargo, days")),
            ],
            options={
                "verbose_name": "data policy",
                "verbose_name_plural": "data policy",
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("id", 1)), name="there_is_one_data_policy"),
                    models.CheckConstraint(condition=models.Q(("embargo_days__range", (0, 3660)), ("release_every_days__range", (0, 3660))), name="days_of_a_data_policy_are_not_negative"),
                ],
            },
        ),
        migrations.CreateModel(
            name="DataRelease",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("day", models.DateField(unique=True, verbose_name="day")),
                ("run", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="leaderboard.aggregationrun", verbose_name="snapshot")),
                ("last_star", models.PositiveBigIntegerField()),
                ("planned_at", models.DateTimeField(db_default=Now())),
                ("embargo_until", models.DateTimeField(verbose_name="embargo until")),
                ("state", models.CharField(choices=[("planned", "planned"), ("writing", "being written"), ("published", "published")], default="planned", max_length=9, verbose_name="state")),
                ("lease_until", models.DateTimeField(null=True)),
                ("published_at", models.DateTimeField(null=True, verbose_name="published")),
                ("licence", models.CharField(blank=True, max_length=120, verbose_name="licence")),
                ("licence_url", models.URLField(blank=True, verbose_name="text of the licence")),
            ],
            options={
                "verbose_name": "data release",
                "verbose_name_plural": "data releases",
                "ordering": ["-day"],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("embargo_until__gte", models.F("planned_at"))), name="an_embargo_ends_after_its_release_was_planned"),
                    models.CheckConstraint(condition=models.Q(("state", "published"), ("published_at", None), _connector="XOR"), name="a_published_release_has_a_time"),
                ],
            },
        ),
        migrations.CreateModel(
            name="ReleaseFile",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("release", models.ForeignKey(on_delete=models.PROTECT, related_name="files", to="leaderboard.datarelease")),
                ("name", models.CharField(max_length=80)),
                ("stored_as", models.CharField(blank=True, max_length=200)),
                ("size", models.PositiveBigIntegerField()),
                ("sha256", models.CharField(max_length=64)),
                ("rows", models.PositiveBigIntegerField(null=True)),
                ("removed_at", models.DateTimeField(null=True)),
            ],
            options={
                "ordering": ["pk"],
                "constraints": [
                    models.UniqueConstraint(fields=("release", "name"), name="a_release_has_each_file_once"),
                ],
            },
        ),
        migrations.CreateModel(
            name="ReleasedText",
            fields=[
                ("vote", models.OneToOneField(on_delete=models.PROTECT, primary_key=True, related_name="+", serialize=False, to="battles.vote")),
                ("release", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="leaderboard.datarelease")),
            ],
        ),
        migrations.CreateModel(
            name="AnomalyReview",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("voter", models.CharField(max_length=40)),
                (
                    "group",
                    models.CharField(
                        blank=True,
                        choices=[("network", "new voters of one network"), ("invitation", "new voters invited by one person"), ("day", "new voters of one day"), ("week", "new voters of one week"), ("month", "new voters of four weeks"), ("focused", "voters whose recent votes are mostly on one model")],
                        db_default="",
                        default="",
                        max_length=10,
                    ),
                ),
                ("first_day", models.DateField(null=True)),
                ("member_key", models.CharField(blank=True, db_default="", default="", max_length=40)),
                ("model", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to="models_registry.languagemodel")),
                ("state", models.CharField(choices=[("open", "open"), ("dismissed", "they are fine"), ("excluded", "votes excluded")], default="open", max_length=9)),
                ("over_cap", models.BooleanField(db_default=False, default=False)),
                ("orders", ArrayField(base_field=models.PositiveBigIntegerField(), default=list, size=None)),
                ("last_order", models.PositiveBigIntegerField()),
                ("log_e", models.FloatField()),
                ("crossed", models.PositiveIntegerField()),
                ("evidence", models.JSONField(default=dict)),
                ("effect", models.JSONField(default=list)),
                ("opened_at", models.DateTimeField(db_default=Now())),
                ("decided_at", models.DateTimeField(null=True)),
                ("decided_by", models.ForeignKey(null=True, on_delete=models.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("reason", models.TextField(blank=True)),
            ],
            options={
                "ordering": ["-pk"],
                "indexes": [
                    models.Index(fields=["voter", "-id"], name="newest_review_of_a_voter"),
                ],
                "constraints": [
                    models.UniqueConstraint(condition=models.Q(("group", ""), ("state", "open")), fields=("voter",), name="a_voter_has_one_open_review"),
                    models.UniqueConstraint(condition=models.Q(("state", "open"), models.Q(("group", ""), _negated=True)), fields=("group", "first_day", "member_key", "model"), name="a_group_has_one_open_review_per_model"),
                    models.CheckConstraint(
                        condition=models.Q(models.Q(("first_day", None), ("group", ""), ("model", None)), models.Q(models.Q(("group", ""), _negated=True), ("first_day__isnull", False), ("model__isnull", False), ("voter", "")), _connector="OR"), name="a_review_is_of_a_voter_or_of_a_group_and_a_model"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="SamplingPlan",
            fields=[
                ("scope", models.CharField(max_length=80, primary_key=True, serialize=False)),
                ("run", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="leaderboard.aggregationrun")),
                ("contestants", ArrayField(base_field=models.BigIntegerField(), size=None)),
                ("gains", ArrayField(base_field=models.FloatField(), size=None)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("gains__len", CombinedExpression(CombinedExpression(models.F("contestants__len"), "*", CombinedExpression(models.F("contestants__len"), "-", models.Value(1))), "/", models.Value(2)))), name="a_plan_has_a_gain_for_every_pair"),
                ],
            },
        ),
        # Every aggregation adds to existing rows: with free space on its page, a row's new version needs no index entry.
        *(migrations.RunSQL(f"ALTER TABLE {table} SET (fillfactor = 50)", f"ALTER TABLE {table} RESET (fillfactor)") for table in ("leaderboard_pairtally", "leaderboard_voterpairtally")),
        # Compressing takes longer than writing.
        migrations.RunSQL(
            "ALTER TABLE leaderboard_tallycopy ALTER COLUMN cells SET STORAGE EXTERNAL",
            "ALTER TABLE leaderboard_tallycopy ALTER COLUMN cells SET STORAGE DEFAULT",
        ),
    ]
