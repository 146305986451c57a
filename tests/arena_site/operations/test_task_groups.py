from collections import Counter

import pytest
from django.contrib import admin
from django.test import Client

from arena_site.operations.task_groups import labels
from tests import make
from tests.pages import compact

pytestmark = pytest.mark.django_db

GROUPS = ["Models", "People", "Moderation", "Boards", "Look and texts", "Data", "Machine"]


def test_every_admin_page_is_in_one_group():
    assert Counter(labels()) == Counter(model._meta.label_lower for model in admin.site._registry)


def test_first_page_lists_groups_in_order(admin_client: Client):
    page = admin_client.get("/admin/").text
    places = [page.index(f">{name}</h2>") for name in GROUPS]
    assert places == sorted(places)
    assert "/admin/battles/moderationcase/" in page[places[2] : places[3]]


def test_navigation_has_groups_and_marks_the_page(admin_client: Client):
    page = compact(admin_client.get("/admin/battles/call/").text)
    navigation = page[page.index('id="nav-sidebar"') : page.index("</nav>", page.index('id="nav-sidebar"'))]
    assert all(f">{name}</a></caption>" in navigation for name in GROUPS)
    assert navigation.count("aria-current") == 1
    assert '<a href="/admin/battles/call/" aria-current="page">Interaction log</a>' in navigation
    below = compact(admin_client.get("/admin/models_registry/languagemodel/servers/").text)
    assert '<a href="/admin/models_registry/languagemodel/servers/" aria-current="page">' in below


def test_moderators_see_their_groups_only(client: Client, moderator):
    client.force_login(moderator)
    page = client.get("/admin/").text
    assert [name for name in GROUPS if f'">{name}</h2>' in page] == ["People", "Moderation", "Boards", "Data"]
    assert "What your servers send" not in page


def test_staff_without_permissions_is_told_so(client: Client):
    client.force_login(make.user(is_staff=True))
    assert "You don’t have permission to view or edit anything." in client.get("/admin/").text
