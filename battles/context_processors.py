"""What every page shows beside its own content."""

from django.http import HttpRequest


def sidebar(request: HttpRequest) -> dict[str, object]:
    return {}
