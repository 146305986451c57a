"""More than can be sent at once is refused in words, on a page and inside one."""

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(("headers", "retarget"), [({}, None), ({"HX-Request": "true"}, "#notices")])
def test_a_prompt_that_is_far_too_long_is_no_bad_request(client: Client, headers: dict[str, str], retarget: str | None):
    much, form = "prompt=" + "x" * 1_200_000, "application/x-www-form-urlencoded"
    refused = client.post("/", much, form, headers=headers)
    assert refused.status_code == 413
    assert "This is more than can be sent at once." in refused.text
    assert refused.headers.get("HX-Retarget") == retarget
