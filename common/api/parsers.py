"""What a program sends: JSON in UTF-8, not more than fits, not deeper than it can be read."""

from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from django.utils.translation import gettext as _
from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser
from rest_framework.utils import json

from common.errors import TooLarge


class Utf8JsonParser(JSONParser):
    """DRF's own believes any charset a request names, reads bodies of any length, and breaks on a thousand brackets."""

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE or 0
        sent = stream.read(most + 1)
        if len(sent) > most:
            raise TooLarge
        try:
            return json.loads(sent.decode(), parse_constant=json.strict_constant)
        except ValueError as error:
            raise ParseError(_("This is not JSON: %(error)s.") % {"error": error}) from error
        except RecursionError as error:
            raise ParseError(_("This JSON is nested too deeply.")) from error
