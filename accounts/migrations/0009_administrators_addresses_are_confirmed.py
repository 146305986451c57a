"""Administrators made by commands never confirmed their address; where mail is set, they would have to before signing in."""

from typing import Any

from django.db import migrations


def confirm(apps: Any, schema_editor: Any) -> None:
    EmailAddress = apps.get_model("account", "EmailAddress")
    for user in apps.get_model("accounts", "User").objects.filter(is_superuser=True):
        if not EmailAddress.objects.filter(user=user, email__iexact=user.email).update(verified=True):
            has_primary = EmailAddress.objects.filter(user=user, primary=True).exists()
            EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=not has_primary)


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0008_emails_wait_to_be_sent"),
        ("account", "0009_emailaddress_unique_primary_email"),
    ]

    operations = [migrations.RunPython(confirm, migrations.RunPython.noop)]
