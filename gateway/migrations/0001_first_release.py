from django.conf import settings
from django.db import migrations, models
from django.db.models.functions import Now

from common.ids import new_public_id


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "0001_first_release"),
        ("battles", "0001_first_release"),
    ]

    operations = [
        migrations.CreateModel(
            name="Exchange",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.CharField(default=new_public_id, editable=False, max_length=22, unique=True)),
                ("created_at", models.DateTimeField(db_default=Now())),
                ("user", models.ForeignKey(null=True, on_delete=models.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("token", models.ForeignKey(null=True, on_delete=models.SET_NULL, related_name="exchanges", to="accounts.apitoken")),
                ("asked_model", models.CharField(max_length=120)),
                ("decision", models.ForeignKey(null=True, on_delete=models.SET_NULL, related_name="exchanges", to="battles.routingdecision")),
                ("call", models.OneToOneField(null=True, on_delete=models.PROTECT, related_name="exchange", to="battles.call")),
                ("battle", models.OneToOneField(null=True, on_delete=models.PROTECT, related_name="exchange", to="battles.battle")),
                ("fallbacks", models.PositiveSmallIntegerField(default=0)),
                ("is_stream", models.BooleanField(default=False)),
                ("is_cached", models.BooleanField(default=False)),
                ("prompt_tokens", models.PositiveIntegerField(null=True)),
                ("completion_tokens", models.PositiveIntegerField(null=True)),
                ("cost", models.DecimalField(decimal_places=8, max_digits=14, null=True)),
                ("finish_reason", models.CharField(blank=True, max_length=40)),
                ("error", models.CharField(blank=True, max_length=40)),
                ("session_digest", models.CharField(blank=True, max_length=64)),
                ("texts", models.JSONField(null=True)),
            ],
            options={
                "verbose_name": "exchange of the gateway",
                "verbose_name_plural": "exchanges of the gateway",
                "ordering": ["-pk"],
                "indexes": [
                    models.Index(fields=["token", "-id"], name="exchanges_of_a_token"),
                    models.Index(fields=["created_at"], name="exchanges_by_time"),
                ],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("is_cached", False), ("call", None), _connector="OR"), name="a_cached_exchange_makes_no_call"),
                ],
            },
        ),
    ]
