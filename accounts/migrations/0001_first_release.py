from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import migrations, models
from django.db.models.functions import Now
from django.utils import timezone
from pgtrigger.compiler import Trigger, UpsertTriggerSql
from pgtrigger.migrations import AddTrigger

import accounts.models.users
from common.ids import new_public_id


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        ("sessions", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="User",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("password", models.CharField(max_length=128, verbose_name="password")),
                ("last_login", models.DateTimeField(blank=True, null=True, verbose_name="last login")),
                ("is_superuser", models.BooleanField(default=False, help_text="Designates that this user has all permissions without explicitly assigning them.", verbose_name="superuser status")),
                ("first_name", models.CharField(blank=True, max_length=150, verbose_name="first name")),
                ("last_name", models.CharField(blank=True, max_length=150, verbose_name="last name")),
                ("is_staff", models.BooleanField(default=False, help_text="Designates whether the user can log into this admin site.", verbose_name="staff status")),
                ("is_active", models.BooleanField(default=True, help_text="Designates whether this user should be treated as active. Unselect this instead of deleting accounts.", verbose_name="active")),
                ("date_joined", models.DateTimeField(default=timezone.now, verbose_name="date joined")),
                ("email", models.EmailField(max_length=254, unique=True, verbose_name="e-mail address")),
                ("groups", models.ManyToManyField(blank=True, help_text="The groups this user belongs to. A user will get all permissions granted to each of their groups.", related_name="user_set", related_query_name="user", to="auth.group", verbose_name="groups")),
                ("user_permissions", models.ManyToManyField(blank=True, help_text="Specific permissions for this user.", related_name="user_set", related_query_name="user", to="auth.permission", verbose_name="user permissions")),
            ],
            options={
                "verbose_name": "user",
                "verbose_name_plural": "users",
                "abstract": False,
            },
            managers=[
                ("objects", accounts.models.users.EmailUserManager()),
            ],
        ),
        migrations.CreateModel(
            name="SignIn",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.CharField(default=new_public_id, editable=False, max_length=22, unique=True)),
                ("user", models.ForeignKey(on_delete=models.CASCADE, related_name="sign_ins", to=settings.AUTH_USER_MODEL)),
                ("session", models.OneToOneField(on_delete=models.CASCADE, related_name="sign_in", to="sessions.session")),
                ("browser", models.CharField(blank=True, max_length=30)),
                ("system", models.CharField(blank=True, max_length=30)),
                ("signed_in_at", models.DateTimeField(db_default=Now())),
                ("last_seen_at", models.DateTimeField()),
                ("issuer", models.CharField(blank=True, db_default="", editable=False, max_length=200)),
                ("issuer_session", models.CharField(blank=True, db_default="", editable=False, max_length=255)),
            ],
        ),
        migrations.CreateModel(
            name="Visitor",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(default=new_public_id, max_length=22, unique=True)),
                ("created_at", models.DateTimeField(db_default=Now())),
                ("network", models.CharField(blank=True, db_default="", editable=False, max_length=32)),
                ("claimed_by", models.ForeignKey(blank=True, null=True, on_delete=models.SET_NULL, related_name="visitors", to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name="AuditEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("user", models.ForeignKey(null=True, on_delete=models.SET_NULL, related_name="audit_entries", to=settings.AUTH_USER_MODEL)),
                ("action", models.CharField(max_length=60)),
                ("subject", models.CharField(max_length=200)),
                ("reason", models.TextField(blank=True)),
                ("details", models.JSONField(default=dict)),
                ("created_at", models.DateTimeField(db_default=Now())),
            ],
            options={
                "verbose_name_plural": "audit entries",
                "ordering": ["-pk"],
            },
        ),
        migrations.CreateModel(
            name="Ban",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("user", models.ForeignKey(blank=True, null=True, on_delete=models.CASCADE, related_name="bans", to=settings.AUTH_USER_MODEL)),
                ("visitor", models.ForeignKey(blank=True, null=True, on_delete=models.CASCADE, related_name="bans", to="accounts.visitor")),
                ("network", models.CharField(blank=True, help_text="As shown on a visitor's page. Blocks every visitor and member in it.", max_length=32)),
                ("reason", models.CharField(help_text="Shown to the blocked person.", max_length=500)),
                ("created_by", models.ForeignKey(editable=False, null=True, on_delete=models.SET_NULL, related_name="bans_made", to=settings.AUTH_USER_MODEL)),
                ("created_at", models.DateTimeField(db_default=Now())),
                ("expires_at", models.DateTimeField(blank=True, help_text="Empty: until it is lifted.", null=True)),
                ("lifted_at", models.DateTimeField(editable=False, null=True)),
                ("lifted_by", models.ForeignKey(editable=False, null=True, on_delete=models.SET_NULL, related_name="bans_lifted", to=settings.AUTH_USER_MODEL)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(models.Q(("network", ""), ("user__isnull", False), ("visitor", None)), models.Q(("network", ""), ("user", None), ("visitor__isnull", False)), models.Q(("user", None), ("visitor", None), models.Q(("network", ""), _negated=True)), _connector="OR"),
                        name="a_ban_is_of_one_person_or_one_network",
                        violation_error_message="Name one of them: a user, a visitor, or a network.",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Invitation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("email", models.EmailField(blank=True, help_text="Empty: anyone with the link can use it.", max_length=254, verbose_name="for")),
                ("digest", models.CharField(editable=False, max_length=64, unique=True)),
                ("created_by", models.ForeignKey(editable=False, null=True, on_delete=models.SET_NULL, related_name="invitations_made", to=settings.AUTH_USER_MODEL)),
                ("created_at", models.DateTimeField(db_default=Now())),
                ("expires_at", models.DateTimeField(verbose_name="opens the door until")),
                ("used_at", models.DateTimeField(editable=False, null=True)),
                ("used_by", models.OneToOneField(editable=False, null=True, on_delete=models.SET_NULL, related_name="invitation", to=settings.AUTH_USER_MODEL)),
                ("revoked_at", models.DateTimeField(editable=False, null=True)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("used_at", None), ("revoked_at", None), _connector="OR"), name="a_revoked_invitation_was_used_by_nobody"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Limit",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("action", models.CharField(max_length=10)),
                ("who", models.CharField(max_length=10)),
                ("rate", models.CharField(max_length=100)),
                ("changed_at", models.DateTimeField(auto_now=True)),
            ],
            options={
                "verbose_name": "limit",
                "verbose_name_plural": "limits",
                "constraints": [
                    models.UniqueConstraint(fields=("action", "who"), name="each_action_of_somebody_has_one_limit"),
                ],
            },
        ),
        migrations.CreateModel(
            name="LimitGroup",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=100, unique=True, verbose_name="name")),
                ("networks", ArrayField(base_field=models.CharField(max_length=43), blank=True, default=list, size=None, verbose_name="networks")),
                ("members", models.ForeignKey(blank=True, null=True, on_delete=models.CASCADE, related_name="+", to="auth.group", verbose_name="group of members")),
                ("times", models.PositiveSmallIntegerField(validators=[MinValueValidator(2), MaxValueValidator(100)], verbose_name="times")),
                ("changed_at", models.DateTimeField(auto_now=True)),
            ],
            options={
                "verbose_name": "network or group with wider limits",
                "verbose_name_plural": "networks and groups with wider limits",
                "constraints": [
                    models.CheckConstraint(condition=models.Q(models.Q(("networks", []), _negated=True), ("members__isnull", False), _connector="OR"), name="wider_limits_are_of_networks_or_members", violation_error_message="Name a network, or a group of members."),
                    models.CheckConstraint(condition=models.Q(("times__range", (2, 100))), name="wider_limits_are_2_to_100_times_as_wide"),
                ],
            },
        ),
        migrations.CreateModel(
            name="OutgoingEmail",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("message", models.JSONField()),
                ("created_at", models.DateTimeField(db_default=Now())),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("due_at", models.DateTimeField(db_default=Now())),
            ],
        ),
        migrations.CreateModel(
            name="StaffNetwork",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("user", models.ForeignKey(on_delete=models.CASCADE, related_name="staff_networks", to=settings.AUTH_USER_MODEL)),
                ("network", models.CharField(max_length=32)),
                ("last_day", models.DateField()),
            ],
            options={
                "indexes": [
                    models.Index(fields=["network"], name="staff_of_a_network"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("user", "network"), name="a_network_of_staff_is_kept_once_for_each_person"),
                ],
            },
        ),
        migrations.CreateModel(
            name="ApiToken",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.CharField(default=new_public_id, editable=False, max_length=22, unique=True)),
                ("user", models.ForeignKey(on_delete=models.CASCADE, related_name="api_tokens", to=settings.AUTH_USER_MODEL)),
                ("name", models.CharField(max_length=100)),
                ("digest", models.CharField(editable=False, max_length=64, unique=True)),
                ("last_four", models.CharField(editable=False, max_length=4)),
                ("scopes", ArrayField(base_field=models.CharField(choices=[("read", "read"), ("battle", "battle"), ("vote", "vote"), ("benchmark", "benchmark"), ("export", "export"), ("gateway", "gateway")], max_length=20), size=None)),
                ("keeps_texts", models.BooleanField(db_default=False, default=False, verbose_name="keep texts")),
                ("caches_answers", models.BooleanField(db_default=False, default=False, verbose_name="answer repeated requests from a cache")),
                ("created_at", models.DateTimeField(db_default=Now())),
                ("expires_at", models.DateTimeField(blank=True, null=True)),
                ("last_used_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "verbose_name": "API token",
                "verbose_name_plural": "API tokens",
            },
        ),
        migrations.CreateModel(
            name="IdempotencyKey",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("actor", models.CharField(max_length=40)),
                ("key", models.CharField(max_length=255)),
                ("request_hash", models.CharField(max_length=64)),
                ("status", models.PositiveSmallIntegerField(null=True)),
                ("body", models.JSONField(null=True)),
                ("created_at", models.DateTimeField(db_default=Now())),
            ],
            options={
                "indexes": [
                    models.Index(fields=["created_at"], name="idempotency_key_age"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("actor", "key"), name="an_actor_uses_an_idempotency_key_once"),
                ],
            },
        ),
        AddTrigger(
            model_name="auditentry",
            trigger=Trigger(
                name="an_audit_entry_never_changes",
                sql=UpsertTriggerSql(
                    condition='WHEN (OLD."action" IS DISTINCT FROM (NEW."action") OR OLD."subject" IS DISTINCT FROM (NEW."subject") OR OLD."reason" IS DISTINCT FROM (NEW."reason") OR OLD."details" IS DISTINCT FROM (NEW."details") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at"))',
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                    hash="c12c4e6ad13fa798c868371f89fa1b26b179bfb1",
                    operation="UPDATE",
                    pgid="pgtrigger_an_audit_entry_never_changes_65b52",
                    table="accounts_auditentry",
                    when="BEFORE",
                ),
            ),
        ),
        AddTrigger(
            model_name="auditentry",
            trigger=Trigger(
                name="an_audit_entry_is_given_to_nobody",
                sql=UpsertTriggerSql(
                    condition='WHEN (NEW."user_id" IS NOT NULL AND OLD."user_id" IS DISTINCT FROM (NEW."user_id"))',
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                    hash="41efdc5c0197bcc141e2f0d8bf7e32d8bbd10053",
                    operation="UPDATE",
                    pgid="pgtrigger_an_audit_entry_is_given_to_nobody_af58f",
                    table="accounts_auditentry",
                    when="BEFORE",
                ),
            ),
        ),
        AddTrigger(
            model_name="auditentry",
            trigger=Trigger(
                name="an_audit_entry_is_never_deleted",
                sql=UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;", hash="ee0a94be8b496ea6c33f06a8f2a39ec1f268dd69", operation="DELETE", pgid="pgtrigger_an_audit_entry_is_never_deleted_d0f23", table="accounts_auditentry", when="BEFORE"),
            ),
        ),
        AddTrigger(
            model_name="auditentry",
            trigger=Trigger(
                name="the_audit_log_is_never_emptied",
                sql=UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot truncate table %', TG_TABLE_NAME;", hash="ea0af3f96ae0025d089e27858b18079dae06a2e7", level="STATEMENT", operation="TRUNCATE", pgid="pgtrigger_the_audit_log_is_never_emptied_d269e", table="accounts_auditentry", when="BEFORE"),
            ),
        ),
    ]
