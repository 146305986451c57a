from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

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

    dependencies = [
        ("routing", "0001_rows_of_auto_mode"),
    ]

    operations = [
        migrations.RunPython(add_examples, migrations.RunPython.noop),
    ]
