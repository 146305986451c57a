"""Model fields that two apps use."""

from typing import Any

from django.db import models
from django.utils.safestring import SafeString, mark_safe


class SafeHtmlField(models.TextField):  # type: ignore[type-arg]
    """HTML that was made safe before it was stored; only `common.text.markdown` can produce its values.

    Writing a plain str is a TypeError, so that nothing unsanitised can be stored by mistake;
    reading gives a SafeString, so that templates need no `|safe`.
    """

    def get_prep_value(self, value: Any) -> Any:
        if value and not isinstance(value, SafeString):
            raise TypeError(f"{self.name} takes HTML from common.text.markdown only")
        return super().get_prep_value(value)

    def from_db_value(self, value: str | None, *_: object) -> SafeString | None:
        return None if value is None else mark_safe(value)  # noqa: S308 (it was sanitised before it was stored)
