import json
import os
import subprocess
import sys
from typing import Any

import pytest
from django.conf import settings

SHOWS_ADDRESSES = """
import json, django
django.setup()
from django.conf import settings
from django.template import engines
text = "{% load static own_static %}{% static 'js/proof.js' %} {% own_static 'js/proof.js' %}"
addresses = engines["django"].from_string(text).render().split()
print(json.dumps([addresses, settings.CONTENT_SECURITY_POLICY["DIRECTIVES"]]))
"""


def addresses_and_policy(static_url: str) -> tuple[list[str], dict[str, Any]]:
    environment = os.environ | {"ARENA_STATIC_URL": static_url, "DJANGO_SETTINGS_MODULE": "arena_site.settings.test"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SHOWS_ADDRESSES], cwd=settings.BASE_DIR, env=environment, check=True,
        capture_output=True, text=True,
    )  # fmt: skip
    addresses, policy = json.loads(done.stdout)
    return addresses, policy


@pytest.mark.processes
@pytest.mark.parametrize("written", ["https://static.example.org/a/static", "https://static.example.org/a/static/"])
def test_scripts_are_loaded_from_the_named_host(written: str):
    addresses, policy = addresses_and_policy(written)
    assert addresses == ["https://static.example.org/a/static/js/proof.js", "/a/static/js/proof.js"]
    for directive in ("script-src", "style-src", "img-src", "font-src"):
        assert "https://static.example.org" in policy[directive]
    assert policy["worker-src"] == policy["connect-src"] == ["'self'"]


@pytest.mark.processes
def test_without_a_named_host_only_the_site_itself_is_allowed():
    addresses, policy = addresses_and_policy("/static/")
    assert addresses == ["/static/js/proof.js"] * 2
    assert policy["script-src"] == policy["style-src"] == ["'self'"]
