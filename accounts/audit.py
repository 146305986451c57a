import json

from django.core.serializers.json import DjangoJSONEncoder

from accounts.models import AuditEntry, User


def record(user: User | None, action: str, subject: object, reason: str = "", **details: object) -> AuditEntry:
    """Add an entry; `user` is None for a command. All staff can read details: no secrets there."""
    plain = json.loads(json.dumps(details, cls=DjangoJSONEncoder))
    return AuditEntry.objects.create(user=user, action=action, subject=str(subject)[:200], reason=reason, details=plain)
