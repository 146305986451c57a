import django.db.models.deletion
from django.db import migrations, models

from battles.sql import read_sql


class Migration(migrations.Migration):
    dependencies = [
        ("battles", "0009_index_void_battles"),
        ("models_registry", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="BlindCharge",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("day", models.DateField()),
                ("account", models.CharField(blank=True, max_length=60)),
                ("most", models.DecimalField(decimal_places=8, max_digits=14, verbose_name="reserved")),
                ("cost", models.DecimalField(decimal_places=8, max_digits=14, null=True, verbose_name="cost")),
                ("prompt_characters", models.PositiveIntegerField()),
                ("input_price", models.DecimalField(decimal_places=10, max_digits=20)),
                ("output_price", models.DecimalField(decimal_places=10, max_digits=20)),
                (
                    "answer",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="blind_charges", to="battles.answer"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("cost", None)),
                        fields=("answer",),
                        name="an_answer_has_one_blind_charge_at_a_time",
                    )
                ],
            },
        ),
        migrations.RunSQL(
            read_sql("settle_blind_charges.sql"),
            "DROP TRIGGER an_ended_turn_settles_its_blind_charges ON battles_turn;"
            "DROP FUNCTION battles_settle_blind_charges",
        ),
    ]
