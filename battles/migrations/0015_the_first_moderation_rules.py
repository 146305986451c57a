"""A few rules to begin with, which refuse nothing: an operator switches on what the site needs."""

from django.db import migrations
from django.utils.translation import gettext_noop as _

# (category, kind, what is looked for, action, note)
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


def add_rules(apps, schema_editor):
    Rule = apps.get_model("battles", "ModerationRule")
    Rule.objects.bulk_create(
        Rule(category=category, kind=kind, patterns=patterns, action=action, note=note)
        for category, kind, patterns, action, note in RULES
    )


class Migration(migrations.Migration):
    dependencies = [("battles", "0014_moderation")]
    operations = [migrations.RunPython(add_rules, migrations.RunPython.noop, elidable=False)]
