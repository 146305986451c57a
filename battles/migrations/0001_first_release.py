from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import migrations, models
from django.db.models.functions import Now
from django.utils.translation import gettext_noop as _

from common.db.fields import SafeHtmlField
from common.ids import new_public_id

# Rules of a new arena, which refuse nothing; operators enable those they need: (category, kind, patterns, action, note).
RULES = [
    (
        _("passwords and keys"), "expressions",
        [r"\bsk-[a-z0-9_-]{20}", r"\bakia[0-9a-z]{16}\b", r"\bgh[pousr]_[a-z0-9]{36}\b", r"-----begin [a-z ]*private key-----"],
        "off", "Keys of well-known services, pasted with code. “Warn” suits it.",
    ),
    (_("numbers of payment cards"), "expressions", [r"\b(?:\d[ -]?){15}\d\b"], "off", "Sixteen digits."),
    (
        _("sexual content about children"), "phrases",
        ["child porn*", "csam", "pédopornographi*", "pornographie infantile"], "off", "English, French",
    ),
    (
        _("harming oneself"), "phrases",
        ["how to kill myself", "how to commit suicide", "comment me suicider", "comment se suicider"],
        "off", "English, French",
    ),
    (_("sexual content about children"), "endpoint", ["sexual/minors"], "log", "OpenAI"),
    (
        _("harming oneself"), "endpoint", ["self-harm/intent", "self-harm/instructions", "selfharm"], "log",
        "OpenAI, Mistral",
    ),
    (
        _("violence and dangerous crimes"), "endpoint",
        ["illicit/violent", "violence_and_threats", "dangerous_and_criminal_content"], "log", "OpenAI, Mistral",
    ),
    (
        _("hate and threats"), "endpoint",
        ["hate/threatening", "harassment/threatening", "hate_and_discrimination"], "log", "OpenAI, Mistral",
    ),
    (_("sexual content"), "endpoint", ["sexual"], "off", "OpenAI, Mistral"),
    (_("depictions of violence"), "endpoint", ["violence", "violence/graphic"], "off", "OpenAI"),
]  # fmt: skip

GOOD = ["accurate", "clear", "complete", "creative", "followed_instructions"]
BAD = ["wrong", "shallow", "ignored_instructions", "refused"]
SUGGESTIONS = [
    {
        "en": "Explain why the sky is blue to a curious ten-year-old.",
        "fr": "Expliquez pourquoi le ciel est bleu à un enfant curieux de dix ans.",
    },
    {
        "en": "Write a Python function that tells whether a word is a palindrome, with three tests.",
        "fr": "Écrivez une fonction Python qui dit si un mot est un palindrome, avec trois tests.",
    },
    {
        "en": "Plan a quiet weekend in a city by the sea, in a table.",
        "fr": "Préparez un week-end tranquille dans une ville au bord de la mer, sous forme de tableau.",
    },
    {
        "en": "Write a short poem about a lighthouse without using the letter e.",
        "fr": "Écrivez un court poème sur un phare sans utiliser la lettre u.",
    },
]


def add_moderation_rules(apps, schema_editor):
    Rule = apps.get_model("battles", "ModerationRule")
    Rule.objects.bulk_create(Rule(category=category, kind=kind, patterns=patterns, action=action, note=note) for category, kind, patterns, action, note in RULES)


def add_tags_and_suggestions(apps, schema_editor):
    """Store tags and suggestions that operators can change."""
    tag_model, prompt_model = apps.get_model("battles", "FeedbackTag"), apps.get_model("battles", "PromptSuggestion")
    for is_good, slugs in ((True, GOOD), (False, BAD)):
        tag_model.objects.bulk_create([tag_model(slug=slug, is_good=is_good, position=place) for place, slug in enumerate(slugs, 1)])
    prompt_model.objects.bulk_create([prompt_model(texts=texts, position=place) for place, texts in enumerate(SUGGESTIONS, 1)])


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "0001_first_release"),
        ("models_registry", "0001_first_release"),
        ("uploads", "0001_first_release"),
    ]

    operations = [
        migrations.CreateModel(
            name="Category",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("slug", models.SlugField(max_length=40, unique=True, verbose_name="address")),
                ("name", models.CharField(max_length=80, verbose_name="name")),
                ("description", models.TextField(blank=True, max_length=500, verbose_name="description")),
                ("is_active", models.BooleanField(default=True, verbose_name="in use")),
                ("phrases", ArrayField(base_field=models.CharField(max_length=80), blank=True, default=list, size=None, verbose_name="words or phrases")),
                ("languages", ArrayField(base_field=models.CharField(max_length=3), blank=True, default=list, size=None, verbose_name="languages")),
                ("fewest_characters", models.PositiveIntegerField(default=0, validators=[MaxValueValidator(1000000)], verbose_name="characters, at least")),
                ("fewest_turns", models.PositiveSmallIntegerField(default=1, validators=[MinValueValidator(1), MaxValueValidator(100)], verbose_name="turns, at least")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "verbose_name_plural": "categories",
                "ordering": ["name"],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("fewest_characters", 0), ("fewest_turns__lte", 1), ("languages", []), ("phrases", []), _negated=True), name="a_category_has_a_rule", violation_error_message="Say what belongs to it: words, languages, a length or a number of turns."),
                ],
            },
        ),
        migrations.CreateModel(
            name="FeedbackTag",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("slug", models.CharField(max_length=40, unique=True, validators=[RegexValidator("^[a-z0-9_]+$", "Use small letters, digits and “_” only.", "invalid_slug")], verbose_name="identifier")),
                ("is_good", models.BooleanField(default=True, verbose_name="speaks for the answer")),
                ("labels", models.JSONField(blank=True, default=dict, verbose_name="label")),
                ("position", models.PositiveSmallIntegerField(db_default=0, default=0, verbose_name="position")),
                ("is_retired", models.BooleanField(db_default=False, default=False, verbose_name="retired")),
            ],
            options={
                "verbose_name": "feedback tag",
                "verbose_name_plural": "feedback tags",
                "ordering": ["-is_good", "position", "slug"],
            },
        ),
        migrations.CreateModel(
            name="ModerationRule",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("category", models.CharField(help_text="Shown to people whose prompt is refused or flagged.", max_length=80, verbose_name="category")),
                ("kind", models.CharField(choices=[("phrases", "words or phrases"), ("expressions", "regular expressions"), ("endpoint", "categories of the moderation endpoint")], default="phrases", max_length=12, verbose_name="kind")),
                ("patterns", ArrayField(base_field=models.CharField(max_length=300), size=None, verbose_name="what is looked for")),
                ("threshold", models.FloatField(default=0.5, help_text="For categories of the endpoint only: 0.5 is where most of them would flag a text.", validators=[MinValueValidator(0.01), MaxValueValidator(1)], verbose_name="from a score of")),
                ("action", models.CharField(choices=[("off", "off"), ("log", "log"), ("warn", "warn"), ("block", "refuse")], default="log", max_length=5, verbose_name="action")),
                ("note", models.CharField(blank=True, help_text="For staff: the language, why it is there.", max_length=200, verbose_name="note")),
                ("changed_at", models.DateTimeField(auto_now=True)),
            ],
            options={
                "verbose_name": "moderation rule",
                "verbose_name_plural": "moderation rules",
                "ordering": ["category", "pk"],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("threshold__gt", 0), ("threshold__lte", 1)), name="a_moderation_threshold_is_a_score"),
                    models.CheckConstraint(condition=models.Q(("patterns", []), _negated=True), name="a_moderation_rule_looks_for_something"),
                ],
            },
        ),
        migrations.CreateModel(
            name="ModerationEndpoint",
            fields=[
                ("id", models.PositiveSmallIntegerField(default=1, editable=False, primary_key=True, serialize=False)),
                ("provider", models.ForeignKey(help_text="Its address and key are used. Its models are not chosen for battles because of this.", on_delete=models.PROTECT, related_name="+", to="models_registry.provider", verbose_name="provider")),
                ("model", models.CharField(blank=True, default="omni-moderation-latest", max_length=200, verbose_name="model")),
                ("seconds", models.FloatField(default=3, help_text="A person waits meanwhile.", validators=[MinValueValidator(0.2), MaxValueValidator(15)], verbose_name="patience, seconds")),
                ("refuses_when_away", models.BooleanField(default=False, help_text="If unchecked, battles continue with the rules alone, and a warning is logged.", verbose_name="no battles while it is unavailable")),
                ("is_active", models.BooleanField(default=True, verbose_name="in use")),
            ],
            options={
                "verbose_name": "moderation endpoint",
                "verbose_name_plural": "moderation endpoint",
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("id", 1)), name="there_is_one_moderation_endpoint"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Session",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.CharField(default=new_public_id, editable=False, max_length=22, unique=True)),
                ("owner_user", models.ForeignKey(blank=True, null=True, on_delete=models.SET_NULL, related_name="sessions", to=settings.AUTH_USER_MODEL)),
                ("owner_visitor", models.ForeignKey(blank=True, null=True, on_delete=models.SET_NULL, related_name="sessions", to="accounts.visitor")),
                ("title", models.CharField(blank=True, max_length=120, verbose_name="title")),
                ("archived", models.BooleanField(default=False)),
                ("discarded_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(db_default=Now())),
                ("last_active_at", models.DateTimeField(db_default=Now())),
            ],
            options={
                "indexes": [
                    models.Index(fields=["owner_user", "-last_active_at"], name="sessions_of_a_user"),
                    models.Index(fields=["owner_visitor", "-last_active_at"], name="sessions_of_a_visitor"),
                    models.Index(condition=models.Q(("discarded_at", None), _negated=True), fields=["discarded_at"], name="discarded_sessions"),
                ],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("owner_user", None), ("owner_visitor", None), _connector="OR"), name="a_session_has_one_owner_at_most"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Battle",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.CharField(default=new_public_id, editable=False, max_length=22, unique=True)),
                ("session", models.ForeignKey(on_delete=models.PROTECT, related_name="battles", to="battles.session")),
                ("mode", models.CharField(choices=[("blind", "blind"), ("side_by_side", "side by side"), ("compare", "compare"), ("direct", "direct chat")], default="blind", max_length=12)),
                ("origin", models.CharField(choices=[("draw", "drawn"), ("router", "auto mode")], db_default="draw", default="draw", max_length=6)),
                ("categories", ArrayField(base_field=models.CharField(max_length=40), blank=True, default=list, size=None)),
                ("language", models.CharField(db_default="und", default="und", max_length=3)),
                ("labelled_by", models.CharField(blank=True, db_default="", default="", max_length=60)),
                ("prompt_digest", models.CharField(blank=True, db_default="", default="", max_length=32)),
                ("propensity", models.FloatField()),
                ("filters", models.JSONField(blank=True, db_default={}, default=dict)),
                ("needs_images", models.BooleanField(db_default=False, default=False)),
                ("consent", models.CharField(blank=True, db_default="", default="", max_length=40)),
                ("consent_withdrawn_at", models.DateTimeField(blank=True, null=True)),
                ("voided_at", models.DateTimeField(blank=True, null=True)),
                ("hidden_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(db_default=Now())),
            ],
            options={
                "indexes": [
                    models.Index(fields=["created_at"], name="battles_by_time"),
                    models.Index(condition=models.Q(("voided_at__isnull", False)), fields=["created_at"], name="void_battles_by_time"),
                ],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("propensity__gt", 0), ("propensity__lte", 1)), name="a_propensity_is_a_probability"),
                    models.CheckConstraint(condition=models.Q(("mode", "blind"), ("filters", {}), _connector="OR"), name="only_a_blind_draw_is_narrowed"),
                    models.CheckConstraint(condition=models.Q(("origin__in", ["draw", "router"])), name="a_pair_is_drawn_or_chosen_by_auto_mode"),
                    models.CheckConstraint(condition=models.Q(("consent_withdrawn_at", None), models.Q(("consent", ""), _negated=True), _connector="OR"), name="only_consent_that_was_given_is_withdrawn"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Turn",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("battle", models.ForeignKey(on_delete=models.PROTECT, related_name="turns", to="battles.battle")),
                ("index", models.PositiveSmallIntegerField()),
                ("prompt", models.TextField()),
                ("after_vote", models.BooleanField(default=False)),
                ("warnings", ArrayField(base_field=models.CharField(max_length=80), blank=True, db_default=[], default=list, size=None)),
                ("context_from", models.PositiveSmallIntegerField(default=0)),
                ("state", models.CharField(choices=[("queued", "queued"), ("answering", "answering"), ("done", "done")], default="queued", max_length=9)),
                ("regenerated", models.BooleanField(db_default=False, default=False)),
                ("attempt", models.PositiveSmallIntegerField(default=0)),
                ("fence", models.PositiveBigIntegerField(default=0)),
                ("lease_until", models.DateTimeField(null=True)),
                ("queued_at", models.DateTimeField(db_default=Now())),
                ("stop_requested_at", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(db_default=Now())),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("state", "done"), _negated=True), fields=["state", "queued_at"], name="turns_in_work"),
                    models.Index(fields=["finished_at"], name="turns_lately_finished"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("battle", "index"), name="a_battle_has_each_turn_once"),
                    models.CheckConstraint(condition=models.Q(models.Q(("state", "answering"), _negated=True), ("lease_until__isnull", False), _connector="OR"), name="an_answering_turn_has_a_lease"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Attachment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("turn", models.ForeignKey(on_delete=models.PROTECT, related_name="attachments", to="battles.turn")),
                ("upload", models.ForeignKey(on_delete=models.PROTECT, related_name="attachments", to="uploads.upload")),
                ("position", models.PositiveSmallIntegerField()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("turn", "upload"), name="a_file_goes_with_a_prompt_once"),
                    models.UniqueConstraint(fields=("turn", "position"), name="a_prompt_has_its_files_in_order"),
                    models.CheckConstraint(condition=models.Q(("position__lt", 6)), name="six_files_go_with_a_prompt_at_most"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Side",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("battle", models.ForeignKey(on_delete=models.PROTECT, related_name="sides", to="battles.battle")),
                ("position", models.CharField(choices=[("left", "left"), ("right", "right"), ("1", "1"), ("2", "2"), ("3", "3"), ("4", "4"), ("5", "5"), ("6", "6")], max_length=5)),
                ("model", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="models_registry.languagemodel")),
                ("chosen", models.BooleanField(db_default=False, default=False)),
                ("redrawn", models.BooleanField(default=False)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("battle", "position"), name="a_battle_has_each_side_once"),
                    models.UniqueConstraint(fields=("battle", "model"), name="a_model_meets_itself_in_no_battle"),
                    models.CheckConstraint(condition=models.Q(("position__in", ["left", "right", "1", "2", "3", "4", "5", "6"])), name="a_side_sits_left_right_or_by_a_number"),
                    models.CheckConstraint(condition=models.Q(("chosen", True), ("redrawn", True), _negated=True), name="a_chosen_model_is_not_redrawn"),
                ],
            },
        ),
        migrations.CreateModel(
            name="ModerationCase",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("battle", models.OneToOneField(null=True, on_delete=models.PROTECT, related_name="moderation_case", to="battles.battle")),
                ("user", models.ForeignKey(null=True, on_delete=models.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("visitor", models.ForeignKey(null=True, on_delete=models.SET_NULL, related_name="+", to="accounts.visitor")),
                ("state", models.CharField(choices=[("waiting", "waiting"), ("dismissed", "dismissed"), ("settled", "settled")], default="waiting", max_length=9, verbose_name="state")),
                ("flagged_at", models.DateTimeField(db_default=Now(), verbose_name="flagged")),
                ("opened_at", models.DateTimeField(db_default=Now())),
                ("decided_at", models.DateTimeField(null=True, verbose_name="decided")),
                ("decided_by", models.ForeignKey(null=True, on_delete=models.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL, verbose_name="by")),
                ("reason", models.CharField(blank=True, max_length=500, verbose_name="why")),
            ],
            options={
                "verbose_name": "moderation case",
                "verbose_name_plural": "moderation queue",
                "indexes": [
                    models.Index(fields=["state", "-flagged_at"], name="moderation_queue"),
                ],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("battle", None), models.Q(("user", None), ("visitor", None)), _connector="OR"), name="a_battle_says_itself_whose_it_is"),
                ],
            },
        ),
        migrations.CreateModel(
            name="ModerationVerdict",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("case", models.ForeignKey(on_delete=models.PROTECT, related_name="verdicts", to="battles.moderationcase")),
                ("turn", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to="battles.turn")),
                ("rule", models.ForeignKey(on_delete=models.PROTECT, related_name="verdicts", to="battles.moderationrule")),
                ("category", models.CharField(max_length=80)),
                ("action", models.CharField(choices=[("off", "off"), ("log", "log"), ("warn", "warn"), ("block", "refuse")], max_length=5)),
                ("score", models.FloatField(null=True)),
                ("model", models.CharField(blank=True, max_length=200)),
                ("version", models.CharField(max_length=200)),
                ("created_at", models.DateTimeField(db_default=Now())),
            ],
            options={
                "verbose_name": "moderation verdict",
                "verbose_name_plural": "moderation verdicts",
            },
        ),
        migrations.CreateModel(
            name="Report",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("case", models.ForeignKey(on_delete=models.PROTECT, related_name="reports", to="battles.moderationcase")),
                ("user", models.ForeignKey(null=True, on_delete=models.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("visitor", models.ForeignKey(null=True, on_delete=models.SET_NULL, related_name="+", to="accounts.visitor")),
                ("reason", models.CharField(max_length=1000)),
                ("created_at", models.DateTimeField(db_default=Now())),
            ],
            options={
                "verbose_name": "report",
                "verbose_name_plural": "reports",
                "constraints": [
                    models.UniqueConstraint(fields=("case", "user"), name="a_member_reports_a_battle_once"),
                    models.UniqueConstraint(fields=("case", "visitor"), name="a_visitor_reports_a_battle_once"),
                ],
            },
        ),
        migrations.CreateModel(
            name="RoutingDecision",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.CharField(default=new_public_id, editable=False, max_length=22, unique=True)),
                ("created_at", models.DateTimeField(db_default=Now())),
                ("person", models.CharField(blank=True, max_length=40)),
                ("token", models.ForeignKey(null=True, on_delete=models.SET_NULL, related_name="+", to="accounts.apitoken")),
                ("session", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to="battles.session")),
                ("battle", models.OneToOneField(null=True, on_delete=models.PROTECT, related_name="decision", to="battles.battle")),
                ("query_type", models.CharField(max_length=40)),
                ("type_confidence", models.FloatField()),
                ("categories", ArrayField(base_field=models.CharField(max_length=40), blank=True, default=list, size=None)),
                ("language", models.CharField(default="und", max_length=3)),
                ("context", models.JSONField(default=dict)),
                ("policy", models.CharField(max_length=60)),
                ("target", models.CharField(choices=[("model", "one model"), ("arena", "battle"), ("stay", "same model as before"), ("fallback", "another model after a failure"), ("refused", "refused")], max_length=8)),
                ("model", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to="models_registry.languagemodel")),
                ("runner_up", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to="models_registry.languagemodel")),
                ("confidence", models.FloatField(null=True)),
                ("win_chance", models.FloatField(null=True)),
                ("cost_expected", models.DecimalField(decimal_places=8, max_digits=14, null=True)),
                ("cost_best", models.DecimalField(decimal_places=8, max_digits=14, null=True)),
                ("dial", models.FloatField()),
                ("propensity", models.FloatField()),
                ("explored", models.BooleanField(default=False)),
                ("candidates", models.JSONField(default=list)),
                ("reason", models.CharField(max_length=40)),
                ("details", models.JSONField(default=dict)),
                ("micros", models.PositiveIntegerField(default=0)),
            ],
            options={
                "verbose_name": "decision of auto mode",
                "verbose_name_plural": "decisions of auto mode",
                "ordering": ["-pk"],
                "indexes": [
                    models.Index(fields=["person", "-id"], name="decisions_of_a_person"),
                    models.Index(fields=["created_at"], name="decisions_by_time"),
                ],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("propensity__gt", 0), ("propensity__lte", 1)), name="a_decisions_propensity_is_a_probability"),
                    models.CheckConstraint(condition=models.Q(("dial__range", (0, 1))), name="a_dial_goes_from_0_to_1"),
                    models.CheckConstraint(condition=models.Q(models.Q(("target__in", ["model", "stay", "fallback"]), _negated=True), ("model__isnull", False), _connector="OR"), name="a_decision_for_a_model_names_it"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Share",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.CharField(default=new_public_id, editable=False, max_length=22, unique=True)),
                ("battle", models.OneToOneField(on_delete=models.CASCADE, related_name="share", to="battles.battle")),
                ("turn_count", models.PositiveSmallIntegerField()),
                ("published_at", models.DateTimeField(db_default=Now())),
            ],
        ),
        migrations.CreateModel(
            name="PromptSuggestion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("texts", models.JSONField(default=dict, verbose_name="prompt")),
                ("position", models.PositiveSmallIntegerField(db_default=0, default=0, verbose_name="position")),
                ("is_shown", models.BooleanField(db_default=True, default=True, verbose_name="shown")),
            ],
            options={
                "verbose_name": "prompt suggestion",
                "verbose_name_plural": "prompt suggestions",
                "ordering": ["position", "pk"],
            },
        ),
        migrations.CreateModel(
            name="VoteCounter",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("last_order", models.PositiveBigIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name="Vote",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("battle", models.OneToOneField(on_delete=models.PROTECT, related_name="vote", to="battles.battle")),
                ("mode", models.CharField(choices=[("blind", "blind"), ("side_by_side", "side by side"), ("compare", "compare"), ("direct", "direct chat")], db_default="blind", default="blind", max_length=12)),
                ("origin", models.CharField(choices=[("draw", "drawn"), ("router", "auto mode")], db_default="draw", default="draw", max_length=6)),
                ("choice", models.CharField(choices=[("left", "left is better"), ("right", "right is better"), ("tie", "tie"), ("both_bad", "both are bad")], max_length=8)),
                ("model_left", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="models_registry.languagemodel")),
                ("model_right", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="models_registry.languagemodel")),
                ("order", models.PositiveBigIntegerField(editable=False, null=True, unique=True)),
                ("turn_count", models.PositiveSmallIntegerField()),
                ("style", models.JSONField(default=dict)),
                ("created_at", models.DateTimeField(db_default=Now())),
                ("voter", models.CharField(db_index=True, max_length=40)),
                ("categories", ArrayField(base_field=models.CharField(max_length=40), blank=True, db_default=[], default=list, size=None)),
                ("language", models.CharField(db_default="und", default="und", max_length=3)),
                ("labelled_by", models.CharField(blank=True, db_default="", default="", max_length=60)),
                ("prompt_digest", models.CharField(blank=True, db_collation="C", db_default="", default="", max_length=32)),
                (
                    "excluded_reason",
                    models.CharField(
                        blank=True, choices=[("identity_leak", "a model named itself"), ("moderation", "moderation"), ("anomaly", "anomaly"), ("duplicate_prompt", "duplicate prompt"), ("incomplete", "an answer was stopped"), ("operator", "operator"), ("over_daily_cap", "over the daily cap")], max_length=16
                    ),
                ),
                ("tags", models.JSONField(blank=True, default=dict)),
                ("comment", models.TextField(blank=True, max_length=2000)),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("excluded_reason", ""), _negated=True), fields=["excluded_reason"], include=("order", "mode", "origin", "language", "categories"), name="excluded_votes_by_origin"),
                    models.Index(condition=models.Q(("tags", {}), _negated=True), fields=["model_left"], name="tagged_votes_left"),
                    models.Index(condition=models.Q(("tags", {}), _negated=True), fields=["model_right"], name="tagged_votes_right"),
                    models.Index(fields=["created_at"], name="votes_by_time"),
                    models.Index(fields=["voter", "created_at"], name="votes_of_a_voter_by_time"),
                    models.Index(condition=models.Q(("prompt_digest", ""), _negated=True), fields=["prompt_digest"], name="votes_by_prompt"),
                ],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("model_left", models.F("model_right")), _negated=True), name="a_vote_is_about_two_different_models"),
                    models.CheckConstraint(condition=models.Q(("mode__in", ("blind", "side_by_side"))), name="a_vote_is_on_a_battle_of_two"),
                ],
            },
        ),
        migrations.CreateModel(
            name="VoteNetwork",
            fields=[
                ("vote", models.OneToOneField(db_constraint=False, on_delete=models.CASCADE, primary_key=True, related_name="+", serialize=False, to="battles.vote")),
                ("network", models.CharField(max_length=32)),
                ("day", models.DateField()),
            ],
            options={
                "indexes": [
                    models.Index(fields=["network", "day"], name="votes_of_a_network_by_day"),
                ],
            },
        ),
        migrations.CreateModel(
            name="NetworkCap",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("network", models.CharField(max_length=32)),
                ("day", models.DateField()),
                ("times", models.PositiveSmallIntegerField()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("network", "day"), name="a_network_has_one_wider_cap_a_day"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Answer",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("public_id", models.CharField(default=new_public_id, editable=False, max_length=22, unique=True)),
                ("turn", models.ForeignKey(on_delete=models.PROTECT, related_name="answers", to="battles.turn")),
                ("side", models.ForeignKey(on_delete=models.PROTECT, related_name="answers", to="battles.side")),
                ("state", models.CharField(choices=[("queued", "queued"), ("done", "done"), ("stopped", "stopped"), ("failed", "failed")], default="queued", max_length=9)),
                ("text", models.TextField(blank=True)),
                ("html", SafeHtmlField(blank=True)),
                ("reasoning", models.TextField(blank=True)),
                ("error", models.CharField(blank=True, max_length=40)),
                ("leaks_identity", models.BooleanField(db_default=False, default=False)),
                ("stars", models.PositiveSmallIntegerField(null=True)),
                ("charge", models.OneToOneField(null=True, on_delete=models.PROTECT, related_name="answer", to="models_registry.charge")),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("turn", "side"), name="a_side_answers_a_turn_once"),
                    models.CheckConstraint(condition=models.Q(("state", "failed"), ("error", ""), _connector="OR"), name="only_a_failed_answer_has_an_error"),
                ],
            },
        ),
        migrations.CreateModel(
            name="AnswerState",
            fields=[
                ("answer", models.OneToOneField(on_delete=models.CASCADE, primary_key=True, related_name="provider_state", serialize=False, to="battles.answer")),
                ("encrypted", models.BinaryField()),
            ],
        ),
        migrations.CreateModel(
            name="BlindCharge",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("answer", models.ForeignKey(on_delete=models.PROTECT, related_name="blind_charges", to="battles.answer")),
                ("day", models.DateField()),
                ("account", models.CharField(blank=True, max_length=60)),
                ("most", models.DecimalField(decimal_places=8, max_digits=14, verbose_name="reserved")),
                ("cost", models.DecimalField(decimal_places=8, max_digits=14, null=True, verbose_name="cost")),
                ("prompt_characters", models.PositiveIntegerField()),
                ("input_price", models.DecimalField(decimal_places=10, max_digits=20)),
                ("output_price", models.DecimalField(decimal_places=10, max_digits=20)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(condition=models.Q(("cost", None)), fields=("answer",), name="an_answer_has_one_blind_charge_at_a_time"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Call",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("answer", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="calls", to="battles.answer")),
                ("purpose", models.CharField(choices=[("answer", "answer of a battle"), ("probe", "probe"), ("test", "test of a model"), ("item", "item of a benchmark run"), ("judge", "judgement in a benchmark run"), ("gateway", "gateway")], db_default="answer", default="answer", max_length=7)),
                ("lease_until", models.DateTimeField(null=True)),
                ("model", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="models_registry.languagemodel")),
                ("attempt", models.PositiveSmallIntegerField()),
                ("fence", models.PositiveBigIntegerField()),
                ("state", models.CharField(choices=[("waiting", "waiting"), ("running", "running"), ("done", "done"), ("stopped", "stopped"), ("failed", "failed"), ("lost", "lost")], default="running", max_length=7)),
                ("request", models.JSONField(default=dict)),
                ("price", models.ForeignKey(null=True, on_delete=models.PROTECT, related_name="+", to="models_registry.price")),
                ("charge", models.OneToOneField(null=True, on_delete=models.PROTECT, related_name="call", to="models_registry.charge")),
                ("started_at", models.DateTimeField(db_default=Now())),
                ("first_token_ms", models.PositiveIntegerField(null=True)),
                ("total_ms", models.PositiveIntegerField(null=True)),
                ("prompt_tokens", models.PositiveIntegerField(null=True)),
                ("completion_tokens", models.PositiveIntegerField(null=True)),
                ("reasoning_tokens", models.PositiveIntegerField(null=True)),
                ("tokens_estimated", models.BooleanField(default=False)),
                ("cost", models.DecimalField(decimal_places=8, max_digits=14, null=True)),
                ("finish_reason", models.CharField(blank=True, max_length=40)),
                ("error", models.CharField(blank=True, max_length=40)),
                ("provider_request_id", models.CharField(blank=True, max_length=200)),
            ],
            options={
                "ordering": ["-pk"],
                "indexes": [
                    models.Index(fields=["model", "started_at"], name="calls_of_a_model"),
                    models.Index(fields=["started_at"], name="calls_by_time"),
                    models.Index(condition=models.Q(("state", "running")), fields=["model"], name="calls_under_way"),
                    models.Index(condition=models.Q(("state", "waiting")), fields=["model"], name="calls_waiting"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("answer", "fence", "model"), name="a_claim_calls_a_model_once"),
                    models.CheckConstraint(condition=models.Q(("purpose", "answer"), ("lease_until__isnull", False), _connector="OR"), name="a_call_without_an_answer_carries_its_own_lease"),
                ],
            },
        ),
        migrations.CreateModel(
            name="StarRating",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("answer", models.ForeignKey(on_delete=models.PROTECT, related_name="ratings", to="battles.answer")),
                ("stars", models.PositiveSmallIntegerField()),
                ("order", models.PositiveBigIntegerField(editable=False, unique=True)),
                ("created_at", models.DateTimeField(db_default=Now())),
                ("voter", models.CharField(db_index=True, max_length=40)),
                ("renamed_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("stars__range", (1, 5))), name="stars_are_one_to_five"),
                ],
            },
        ),
        migrations.AddField(
            model_name="answer",
            name="call",
            field=models.OneToOneField(null=True, on_delete=models.PROTECT, related_name="shown_in", to="battles.call"),
        ),
        migrations.RunPython(add_moderation_rules, migrations.RunPython.noop),
        migrations.RunPython(add_tags_and_suggestions, migrations.RunPython.noop),
    ]
