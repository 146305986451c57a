import aiohttp
import pytest
from aiohttp.http_exceptions import BadHttpMessage, TransferEncodingError

from models_registry.providers import connections


@pytest.mark.parametrize(
    ("cause", "is_invalid"),
    [
        (BadHttpMessage("Too many headers received"), True),
        (TransferEncodingError("Not enough data"), False),
        (ConnectionResetError(), False),
    ],
)
def test_incomplete_body_is_invalid_only_if_not_http(cause: Exception, is_invalid: bool):
    error = OSError()
    error.__cause__ = aiohttp.ClientPayloadError("Response payload is not completed")
    error.__cause__.__cause__ = cause
    assert connections.is_invalid_http(error) == is_invalid
