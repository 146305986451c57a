from django.conf import settings
from django.db import migrations, models
from django.db.models.functions import Now
from pgtrigger.compiler import Trigger, UpsertTriggerSql
from pgtrigger.migrations import AddTrigger


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "0001_first_release"),
    ]

    operations = [
        migrations.CreateModel(
            name="SiteIdentity",
            fields=[
                ("id", models.PositiveSmallIntegerField(default=1, editable=False, primary_key=True, serialize=False)),
                ("name", models.CharField(blank=True, max_length=60, verbose_name="site name")),
                ("logo", models.BinaryField(null=True)),
                ("icon", models.BinaryField(null=True)),
                ("logo_width", models.PositiveSmallIntegerField(default=0, editable=False)),
                ("logo_height", models.PositiveSmallIntegerField(default=0, editable=False)),
                ("logo_digest", models.CharField(blank=True, editable=False, max_length=16)),
                ("shows_name", models.BooleanField(default=True, verbose_name="show the name beside the logo")),
                ("accent", models.CharField(blank=True, max_length=7, verbose_name="accent colour")),
                ("accent_dark", models.CharField(blank=True, max_length=7, verbose_name="accent colour in the dark theme")),
                ("changed_at", models.DateTimeField(auto_now=True)),
            ],
            options={
                "verbose_name": "name, logo and colour",
                "verbose_name_plural": "name, logo and colour",
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("pk", 1)), name="a_site_has_one_identity"),
                    models.CheckConstraint(condition=models.Q(("accent__regex", "^(#[0-9a-f]{6})?$"), ("accent_dark__regex", "^(#[0-9a-f]{6})?$")), name="an_accent_is_a_colour"),
                    models.CheckConstraint(condition=models.Q(models.Q(("icon", None), ("logo", None), ("logo_digest", "")), models.Q(("icon__isnull", False), ("logo__isnull", False), models.Q(("logo_digest", ""), _negated=True)), _connector="OR"), name="a_logo_has_an_icon_and_a_digest"),
                ],
            },
        ),
        migrations.CreateModel(
            name="PageVersion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("page", models.CharField(choices=[("legal", "Legal notice"), ("privacy", "Privacy"), ("terms", "Terms of use")], max_length=7, verbose_name="page")),
                ("number", models.PositiveIntegerField(editable=False, verbose_name="version")),
                ("texts", models.JSONField(blank=True, default=dict, verbose_name="texts")),
                ("html", models.JSONField(default=dict, editable=False)),
                ("must_be_accepted", models.BooleanField(default=False, verbose_name="must be accepted before the next battle")),
                ("published_at", models.DateTimeField(db_default=Now(), editable=False, verbose_name="published at")),
                ("published_by", models.ForeignKey(editable=False, null=True, on_delete=models.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL, verbose_name="published by")),
            ],
            options={
                "verbose_name": "footer page",
                "verbose_name_plural": "footer pages",
                "ordering": ["page", "-number"],
                "constraints": [
                    models.UniqueConstraint(fields=("page", "number"), name="a_page_has_one_version_of_a_number"),
                    models.CheckConstraint(condition=models.Q(("must_be_accepted", False), ("page", "terms"), _connector="OR"), name="only_terms_are_accepted", violation_error_message="Only terms of use can be accepted."),
                ],
            },
        ),
        migrations.CreateModel(
            name="TermsAcceptance",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("user", models.ForeignKey(null=True, on_delete=models.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("visitor", models.ForeignKey(null=True, on_delete=models.CASCADE, related_name="+", to="accounts.visitor")),
                ("version", models.ForeignKey(on_delete=models.PROTECT, related_name="acceptances", to="site_content.pageversion")),
                ("accepted_at", models.DateTimeField(db_default=Now())),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("user", "version"), name="a_member_accepts_terms_once"),
                    models.UniqueConstraint(fields=("visitor", "version"), name="a_visitor_accepts_terms_once"),
                    models.CheckConstraint(condition=models.Q(models.Q(("user", None), ("visitor__isnull", False)), models.Q(("user__isnull", False), ("visitor", None)), _connector="OR"), name="terms_are_accepted_by_one_person"),
                ],
            },
        ),
        AddTrigger(
            model_name="pageversion",
            trigger=Trigger(
                name="a_published_page_never_changes",
                sql=UpsertTriggerSql(
                    condition='WHEN (OLD."page" IS DISTINCT FROM (NEW."page") OR OLD."number" IS DISTINCT FROM (NEW."number") OR OLD."texts" IS DISTINCT FROM (NEW."texts") OR OLD."html" IS DISTINCT FROM (NEW."html") OR OLD."must_be_accepted" IS DISTINCT FROM (NEW."must_be_accepted") OR OLD."published_at" IS DISTINCT FROM (NEW."published_at"))',
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                    hash="bdeb1e7329d38c6eac7d8936a63e7cfc59f97a84",
                    operation="UPDATE",
                    pgid="pgtrigger_a_published_page_never_changes_e5b6a",
                    table="site_content_pageversion",
                    when="BEFORE",
                ),
            ),
        ),
        AddTrigger(
            model_name="pageversion",
            trigger=Trigger(
                name="a_published_page_is_never_deleted",
                sql=UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;", hash="516130499ad7e9baba729b912f05f524f6749090", operation="DELETE", pgid="pgtrigger_a_published_page_is_never_deleted_bd0e9", table="site_content_pageversion", when="BEFORE"),
            ),
        ),
    ]
