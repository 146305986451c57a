import pytest
from django.test import Client

from accounts.models import AuditEntry
from battles.models import Category
from tests import make
from tests.pages import compact

URL = "/admin/battles/category/"
FIELDS = {
    "name": "Law", "slug": "law", "description": "Legal questions", "is_active": "on",
    "phrases": "GDPR\n contract* \nGDPR\n", "languages": "EN, fr", "fewest_characters": "0", "fewest_turns": "1",
}  # fmt: skip


@pytest.fixture
def admin(db) -> Client:
    client = Client()
    client.force_login(make.user(is_staff=True, is_superuser=True))
    return client


def test_category_is_created_from_lines(admin: Client):
    assert admin.post(f"{URL}add/", FIELDS).status_code == 302
    category = Category.objects.get()
    assert (category.phrases, category.languages) == (["GDPR", "contract*"], ["en", "fr"])
    assert AuditEntry.objects.filter(action="add category").exists()
    assert "GDPR, contract* · en, fr" in admin.get(URL).content.decode()
    assert "GDPR\ncontract*</textarea>" in admin.get(f"{URL}{category.pk}/change/").content.decode()


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"slug": "coding"}, "has this category already"),
        ({"phrases": "a"}, "too short"),
        ({"phrases": "*"}, "too short"),
        ({"phrases": "x" * 90}, "longer than 80"),
        ({"phrases": "\n".join(f"word{n}" for n in range(201))}, "At most 200"),
        ({"languages": "english"}, "english"),
        ({"phrases": "", "languages": ""}, "Say what belongs to it"),
    ],
)
def test_invalid_category_is_refused(admin: Client, changes: dict[str, str], problem: str):
    answer = admin.post(f"{URL}add/", FIELDS | changes)
    assert problem in answer.content.decode()
    assert not Category.objects.exists()


def test_slug_and_row_of_category_are_permanent(admin: Client):
    category = Category.objects.create(slug="law", name="Law", phrases=["gdpr"])
    admin.post(f"{URL}{category.pk}/change/", FIELDS | {"slug": "other", "name": "The law"})
    category.refresh_from_db()
    assert (category.slug, category.name) == ("law", "The law")
    assert admin.post(f"{URL}{category.pk}/delete/", {"post": "yes"}).status_code == 403


def test_prompt_is_tried_on_all_categories(admin: Client):
    Category.objects.create(slug="law", name="Law", phrases=["gdpr"])
    Category.objects.create(slug="bees", name="Bees", phrases=["bee", "bees"], is_active=False)
    Category.objects.create(slug="wasps", name="Wasps", phrases=["wasp"])
    page = admin.post(f"{URL}try/", {"prompt": "Write a poem about bees and the GDPR"}).content.decode()
    page = compact(page)
    assert "Creative writing" in page
    assert "Language: en" in page
    assert "<li>Law</li>" in page
    assert "<li>Bees (not in use)</li>" in page
    assert "Wasps" not in page
    assert admin.get(f"{URL}try/").status_code == 200
    assert admin.post(f"{URL}try/", {"prompt": ""}).status_code == 422


def test_trying_categories_needs_permission(db):
    client = Client()
    client.force_login(make.user(is_staff=True))
    assert client.get(f"{URL}try/").status_code == 403
