from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from django.utils.translation import gettext as _
from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser
from rest_framework.utils import json

from common.errors import TooLarge


class Utf8JsonParser(JSONParser):
    """Parse UTF-8 JSON of limited length and depth.

    DRF's parser accepts any charset, reads bodies of any length, and raises RecursionError on deep nesting.
    """

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        max_bytes = settings.DATA_UPLOAD_MAX_MEMORY_SIZE or 0
        body = stream.read(max_bytes + 1)
        if len(body) > max_bytes:
            raise TooLarge
        try:
            return json.loads(body.decode(), parse_constant=json.strict_constant)
        except ValueError as error:
            raise ParseError(_("This is not JSON: %(error)s.") % {"error": error}) from error
        except RecursionError as error:
            raise ParseError(_("This JSON is nested too deeply.")) from error
