import pytest
from django.test import Client

from arena_site.styleguide import COLOURS, ICONS
from tests import make

pytestmark = pytest.mark.django_db


def test_styleguide_is_for_staff_only(client: Client):
    assert client.get("/styleguide/").status_code == 404
    client.force_login(make.user("ada@example.org"))
    assert client.get("/styleguide/").status_code == 404


def test_styleguide_shows_components_with_few_queries(client: Client, django_assert_max_num_queries):
    client.force_login(make.user("grace@example.org", is_staff=True))
    with django_assert_max_num_queries(5):
        page = client.get("/styleguide/").content.decode()
    for icon in ICONS:
        assert f'class="icon icon-{icon}"' in page
    for colour in COLOURS:
        assert f'class="swatch {colour}"' in page
    parts = (
        "composer",
        "pane",
        "vote",
        "reveal",
        "feedback",
        "stars",
        "model-picker",
        "notice error",
        "empty",
        "pages",
        "failed",
    )
    for part in parts:
        assert f'class="{part}' in page or f" {part}" in page, part
    assert "not set up: no key" in page
    assert "Try again in 3 minutes." in page
