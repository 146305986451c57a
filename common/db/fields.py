from typing import Any

from django.db import models
from django.utils.safestring import SafeString, mark_safe


class SafeHtmlField(models.TextField):  # type: ignore[type-arg]
    """HTML sanitised by `common.text.markdown`; reads as SafeString.

    Storing a plain str raises TypeError, so that unsanitised HTML cannot be stored by mistake.
    """

    def get_prep_value(self, value: Any) -> Any:
        if value and not isinstance(value, SafeString):
            raise TypeError(f"{self.name} takes HTML from common.text.markdown only")
        return super().get_prep_value(value)

    def from_db_value(self, value: str | None, *_: object) -> SafeString | None:
        return None if value is None else mark_safe(value)  # noqa: S308 (sanitised before it was stored)
