from django.contrib import admin
from django.http import HttpRequest


class SecretFieldsAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Refuse list filters on `secret_fields`.

    Django allows every field of the model itself in a list's query, so `?key__startswith=a` would spell a key out.
    """

    secret_fields: frozenset[str]

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        if lookup.partition("__")[0] in self.secret_fields:
            return False
        return super().lookup_allowed(lookup, value, request)  # type: ignore[arg-type]
