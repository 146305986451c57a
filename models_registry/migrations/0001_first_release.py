from decimal import Decimal

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MinValueValidator
from django.db import migrations, models
from django.db.models.functions import Now
from django.utils import timezone

import models_registry.providers.kinds
import models_registry.validators


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "0001_first_release"),
    ]

    operations = [
        migrations.CreateModel(
            name="Budget",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("whose", models.CharField(choices=[("visitor", "each visitor"), ("member", "each member"), ("site", "the whole site")], max_length=7, unique=True, verbose_name="whose")),
                ("dollars", models.DecimalField(blank=True, decimal_places=2, help_text="Empty: no limit. 0: no paid calls. Takes effect within five seconds.", max_digits=10, null=True, validators=[MinValueValidator(Decimal("0"))], verbose_name="US dollars a day")),
                ("changed_at", models.DateTimeField(auto_now=True, verbose_name="changed at")),
            ],
            options={
                "verbose_name": "budget",
                "verbose_name_plural": "budgets",
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("dollars", None), ("dollars__gte", 0), _connector="OR"), name="no_budget_is_negative"),
                ],
            },
        ),
        migrations.CreateModel(
            name="SpendingDay",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("day", models.DateField()),
                ("account", models.CharField(max_length=60)),
                ("reserved", models.DecimalField(decimal_places=8, default=0, max_digits=16)),
                ("spent", models.DecimalField(decimal_places=8, default=0, max_digits=16)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("day", "account"), name="an_account_has_each_day_once"),
                    models.CheckConstraint(condition=models.Q(("reserved__gte", 0)), name="nothing_is_released_that_was_not_reserved"),
                ],
            },
        ),
        migrations.CreateModel(
            name="PaidCallsHalt",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("since", models.DateTimeField(db_default=Now())),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("pk", 1)), name="there_is_one_kill_switch"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Provider",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=100, verbose_name="name")),
                ("base_url", models.CharField(max_length=300, validators=[models_registry.validators.validate_endpoint], verbose_name="base URL")),
                ("kind", models.CharField(blank=True, choices=models_registry.providers.kinds.provider_kinds, default="", help_text="Decides what is sent with a request. Empty: guessed from the address.", max_length=12, verbose_name="kind")),
                ("api_key_env", models.CharField(blank=True, max_length=100, validators=[models_registry.validators.validate_environment_variable], verbose_name="key's environment variable")),
                ("key_encrypted", models.BinaryField(blank=True, null=True)),
                ("key_last_four", models.CharField(blank=True, editable=False, max_length=4)),
                ("key_fingerprint", models.CharField(blank=True, editable=False, max_length=12)),
                ("needs_key", models.BooleanField(default=True, verbose_name="needs a key")),
                ("connect_s", models.FloatField(blank=True, null=True, validators=[MinValueValidator(0.1)], verbose_name="connect deadline")),
                ("first_s", models.FloatField(blank=True, null=True, validators=[MinValueValidator(0.1)], verbose_name="first token deadline")),
                ("idle_s", models.FloatField(blank=True, null=True, validators=[MinValueValidator(0.1)], verbose_name="idle deadline")),
                ("total_s", models.FloatField(blank=True, null=True, validators=[MinValueValidator(0.1)], verbose_name="total deadline")),
                ("finish_reason_required", models.BooleanField(default=True, verbose_name="an answer needs a finish reason")),
                ("calls_at_once", models.PositiveIntegerField(blank=True, null=True, validators=[MinValueValidator(1)], verbose_name="calls at once")),
                ("daily_budget", models.DecimalField(blank=True, decimal_places=4, max_digits=12, null=True, validators=[MinValueValidator(Decimal("0"))], verbose_name="daily budget, US dollars")),
                ("passed_names", ArrayField(base_field=models.CharField(max_length=64), blank=True, db_default=[], default=list, size=None, validators=[models_registry.validators.validate_passed_names], verbose_name="also passed on")),
                ("fetches_media", models.BooleanField(db_default=False, default=False, verbose_name="fetches pictures and files by their address")),
                ("server_tool_prices", models.JSONField(blank=True, db_default={}, default=dict, validators=[models_registry.validators.validate_tool_prices], verbose_name="prices of its own tools")),
                ("is_answering", models.BooleanField(default=False, editable=False, verbose_name="answers")),
                ("probed_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("created_at", models.DateTimeField(db_default=Now())),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("base_url", "api_key_env"), name="a_provider_is_known_by_its_address_and_key_variable"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Catalogue",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("provider", models.OneToOneField(on_delete=models.CASCADE, related_name="catalogue", to="models_registry.provider")),
                ("asked_at", models.DateTimeField(null=True)),
                ("fetched_at", models.DateTimeField(null=True)),
                ("listed", models.JSONField(default=list)),
                ("failure", models.TextField(blank=True)),
            ],
        ),
        migrations.CreateModel(
            name="LanguageModel",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("provider", models.ForeignKey(on_delete=models.PROTECT, related_name="models", to="models_registry.provider")),
                ("upstream_name", models.CharField(max_length=200, verbose_name="upstream name")),
                ("slug", models.CharField(max_length=120, unique=True, validators=[models_registry.validators.validate_model_slug])),
                ("family", models.CharField(db_index=True, editable=False, max_length=100)),
                ("version", models.PositiveIntegerField(default=1, editable=False)),
                ("name", models.CharField(max_length=120, verbose_name="display name")),
                ("organization", models.CharField(blank=True, max_length=120, verbose_name="organization")),
                ("license", models.CharField(blank=True, max_length=120, verbose_name="licence")),
                ("license_kind", models.CharField(choices=[("open", "open"), ("proprietary", "proprietary")], default="proprietary", max_length=12, verbose_name="licence kind")),
                ("size_b", models.DecimalField(blank=True, decimal_places=3, max_digits=9, null=True, validators=[MinValueValidator(Decimal("0"))], verbose_name="parameters, billions")),
                ("context_length", models.PositiveIntegerField(blank=True, null=True, verbose_name="context length, tokens")),
                ("abilities", ArrayField(base_field=models.CharField(choices=[("images", "sees images"), ("tools", "calls tools")], max_length=20), blank=True, default=list, size=None, verbose_name="abilities")),
                ("system_prompt", models.TextField(blank=True, verbose_name="system prompt")),
                ("parameters", models.JSONField(blank=True, default=dict, help_text='Sent with every request, for example {"temperature": 0.7, "max_tokens": 1024}.', validators=[models_registry.validators.validate_parameters], verbose_name="sampling parameters")),
                ("weight", models.FloatField(default=1, validators=[MinValueValidator(0)], verbose_name="sampling weight")),
                ("aliases", ArrayField(base_field=models.CharField(max_length=120), blank=True, default=list, help_text="Names this model may call itself by, separated by commas.", size=None, verbose_name="aliases")),
                ("calls_at_once", models.PositiveIntegerField(blank=True, null=True, validators=[MinValueValidator(1)], verbose_name="calls at once")),
                ("status", models.CharField(choices=[("draft", "draft"), ("active", "active"), ("paused", "paused"), ("retired", "retired")], default="draft", max_length=8, verbose_name="status")),
                ("retired_at", models.DateTimeField(blank=True, null=True)),
                ("has_votes", models.BooleanField(default=False, editable=False)),
                ("created_at", models.DateTimeField(db_default=Now())),
            ],
            options={
                "ordering": ["name", "version"],
                "constraints": [
                    models.UniqueConstraint(fields=("family", "version"), name="a_family_has_each_version_once"),
                    models.CheckConstraint(condition=models.Q(("weight__gte", 0)), name="a_sampling_weight_is_not_negative"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Breaker",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("model", models.OneToOneField(null=True, on_delete=models.CASCADE, related_name="breaker", to="models_registry.languagemodel")),
                ("provider", models.OneToOneField(null=True, on_delete=models.CASCADE, related_name="breaker", to="models_registry.provider")),
                ("recent", models.CharField(blank=True, max_length=10)),
                ("openings", models.PositiveSmallIntegerField(default=0)),
                ("reason", models.CharField(blank=True, max_length=40, verbose_name="reason")),
                ("opened_at", models.DateTimeField(null=True, verbose_name="open since")),
                ("probe_at", models.DateTimeField(null=True, verbose_name="next probe")),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("probe_at__isnull", False)), fields=["probe_at"], name="breakers_open"),
                ],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("model__isnull", True), ("provider__isnull", True), _connector="XOR"), name="a_breaker_is_about_a_model_or_a_provider"),
                    models.CheckConstraint(condition=models.Q(("probe_at__isnull", True), ("opened_at__isnull", False), _connector="OR"), name="an_open_breaker_says_since_when"),
                ],
            },
        ),
        migrations.CreateModel(
            name="CatalogueChange",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("model", models.ForeignKey(on_delete=models.CASCADE, related_name="catalogue_changes", to="models_registry.languagemodel")),
                ("kind", models.CharField(choices=[("price", "price"), ("context", "context length"), ("gone", "no longer served")], max_length=7, verbose_name="kind")),
                ("before", models.JSONField(default=dict)),
                ("after", models.JSONField(default=dict)),
                ("state", models.CharField(choices=[("proposed", "proposed"), ("accepted", "accepted"), ("dismissed", "dismissed")], default="proposed", max_length=9, verbose_name="state")),
                ("found_at", models.DateTimeField(db_default=Now(), verbose_name="found")),
                ("decided_at", models.DateTimeField(null=True, verbose_name="decided")),
                ("decided_by", models.ForeignKey(null=True, on_delete=models.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL, verbose_name="by")),
            ],
            options={
                "verbose_name": "catalogue change",
                "ordering": ["-state", "-pk"],
                "constraints": [
                    models.UniqueConstraint(condition=models.Q(("state", "proposed")), fields=("model", "kind"), name="a_model_has_one_proposal_of_each_kind"),
                    models.CheckConstraint(condition=models.Q(models.Q(("decided_at", None), ("state", "proposed")), models.Q(models.Q(("state", "proposed"), _negated=True), ("decided_at__isnull", False)), _connector="OR"), name="a_decided_change_says_when"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Inquiry",
            fields=[
                ("breaker", models.OneToOneField(db_constraint=False, on_delete=models.CASCADE, primary_key=True, related_name="inquiry", serialize=False, to="models_registry.breaker")),
                ("failures", models.JSONField(default=list)),
                ("cleared_people", models.JSONField(default=dict)),
                ("asked_model", models.ForeignKey(db_constraint=False, null=True, on_delete=models.SET_NULL, related_name="+", to="models_registry.languagemodel")),
                ("due_at", models.DateTimeField(null=True)),
                ("asked_at", models.DateTimeField(null=True)),
                ("cleared", models.PositiveIntegerField(default=0)),
                ("cleared_at", models.DateTimeField(null=True)),
                ("cause", models.CharField(blank=True, choices=[("rule", "failures in a row"), ("question", "a neutral question failed, too"), ("not_asked", "a neutral question could not be asked: no free slot or no money"), ("people", "ten conversations of several people had no answer")], max_length=10)),
            ],
            options={
                "verbose_name_plural": "inquiries",
                "indexes": [
                    models.Index(condition=models.Q(("due_at", None), _negated=True), fields=["due_at"], name="questions_due"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Price",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("model", models.ForeignKey(on_delete=models.CASCADE, related_name="prices", to="models_registry.languagemodel")),
                ("input_per_million", models.DecimalField(decimal_places=6, max_digits=12, validators=[MinValueValidator(Decimal("0"))])),
                ("output_per_million", models.DecimalField(decimal_places=6, max_digits=12, validators=[MinValueValidator(Decimal("0"))])),
                ("valid_from", models.DateTimeField(db_default=Now())),
            ],
            options={
                "ordering": ["-valid_from"],
            },
        ),
        migrations.CreateModel(
            name="Charge",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("day", models.DateField()),
                ("model", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="models_registry.languagemodel")),
                ("provider", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="models_registry.provider")),
                ("price", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="models_registry.price")),
                ("person", models.CharField(blank=True, max_length=40)),
                ("most", models.DecimalField(decimal_places=8, max_digits=14, verbose_name="reserved")),
                ("cost", models.DecimalField(decimal_places=8, max_digits=14, null=True, verbose_name="cost")),
                ("created_at", models.DateTimeField(db_default=Now())),
            ],
            options={
                "ordering": ["-pk"],
                "indexes": [
                    models.Index(fields=["day", "model"], name="charges_of_a_day"),
                ],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("most__gt", 0)), name="free_calls_have_no_charge"),
                ],
            },
        ),
        migrations.CreateModel(
            name="ModelLimit",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("model", models.OneToOneField(on_delete=models.CASCADE, related_name="+", to="models_registry.languagemodel", verbose_name="model")),
                ("rate", models.CharField(max_length=100, verbose_name="rate")),
                ("changed_at", models.DateTimeField(auto_now=True)),
            ],
            options={
                "verbose_name": "limit of a model",
                "verbose_name_plural": "limits of models",
            },
        ),
        migrations.CreateModel(
            name="ModelIcon",
            fields=[
                ("digest", models.CharField(max_length=32, primary_key=True, serialize=False)),
                ("content", models.BinaryField()),
            ],
        ),
        migrations.CreateModel(
            name="ModelProfile",
            fields=[
                ("model", models.OneToOneField(db_constraint=False, on_delete=models.CASCADE, primary_key=True, related_name="profile", serialize=False, to="models_registry.languagemodel")),
                ("hides_setup", models.BooleanField(db_default=False, default=False)),
                ("icon", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to="models_registry.modelicon")),
            ],
        ),
        migrations.CreateModel(
            name="RequestRepair",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("model", models.ForeignKey(db_constraint=False, on_delete=models.CASCADE, related_name="repairs", to="models_registry.languagemodel", verbose_name="model")),
                ("repair", models.CharField(max_length=80, verbose_name="repair")),
                ("state", models.CharField(choices=[("suspected", "to be checked"), ("confirmed", "in force"), ("refuted", "not confirmed")], default="suspected", max_length=9, verbose_name="state")),
                ("battles_go_on", models.BooleanField(default=False, help_text="Without a parameter of its own the model is another contestant under the same name.", verbose_name="battles go on")),
                ("seen_at", models.DateTimeField(default=timezone.now, verbose_name="last seen")),
                ("expires_at", models.DateTimeField(blank=True, null=True, verbose_name="until")),
                ("due_at", models.DateTimeField(editable=False, null=True)),
            ],
            options={
                "verbose_name": "repair of requests",
                "verbose_name_plural": "repairs of requests",
                "ordering": ["model__name", "repair"],
                "constraints": [
                    models.UniqueConstraint(fields=("model", "repair"), name="a_model_has_a_repair_once"),
                ],
            },
        ),
    ]
