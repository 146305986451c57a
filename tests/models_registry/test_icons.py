from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from accounts.models import AuditEntry
from models_registry.models import LanguageModel, ModelIcon
from models_registry.profiles import profile_of
from models_registry.templatetags.model_cards import model_icon
from tests import make
from tests.models_registry.test_model_admin import model_form, page_of
from tests.uploads import pictures

pytestmark = pytest.mark.django_db

REFUSED = {
    "icon_too_large": (b"\x89PNG\r\n\x1a\n" + b"0" * 500_000, "The picture is larger than 500 kB."),
    "icon_unsupported": (b"<svg onload='alert(1)'/>", "Upload a PNG, JPEG, WebP or GIF."),
    "icon_too_many_pixels": (pictures.png_that_claims(30_000, 30_000), "more than 4 megapixels"),
    "icon_damaged": (pictures.picture()[:-20], "The picture is damaged."),
}


@pytest.fixture
def admin(client: Client) -> Client:
    client.force_login(make.user("admin@example.org", is_staff=True, is_superuser=True))
    return client


def upload(admin: Client, model: LanguageModel, content: bytes, **fields: Any) -> Any:
    file = SimpleUploadedFile("../logo.svg", content)
    return admin.post(page_of(model), model_form(model, icon_file=file, **fields))


@pytest.mark.processes
@pytest.mark.parametrize("code", REFUSED)
def test_bad_icon_is_refused_with_code(admin: Client, code: str):
    content, sentence = REFUSED[code]
    model = make.model(slug="gpt")
    response = upload(admin, model, content, organization="Kept")
    [error] = response.context["adminform"].form.errors.as_data()["icon_file"]
    assert error.code == code
    assert sentence in response.content.decode()
    assert "Kept" in response.content.decode()
    model.refresh_from_db()
    assert (profile_of(model.pk).icon, model.organization, ModelIcon.objects.count()) == (None, "", 0)


@pytest.mark.processes
def test_icon_is_reencoded_served_and_shared_by_versions(admin: Client):
    model = make.model(slug="gpt", has_votes=True)
    make.model()
    assert upload(admin, model, pictures.photograph_with_metadata()).status_code == 302
    stored = ModelIcon.objects.get()
    assert pictures.SECRET not in bytes(stored.content)
    described = Client().get("/api/v1/models/gpt/").json()
    response = Client().get(described["icon"])
    assert (response["Content-Type"], response["X-Content-Type-Options"]) == ("image/png", "nosniff")
    assert response["Cache-Control"] == "public, max-age=31536000, immutable"
    icon = pictures.opened(response.content)
    assert (icon.size, icon.mode, icon.getpixel((0, 48)), icon.getpixel((48, 48))) == (
        (96, 96), "RGB", (255, 255, 255), (254, 0, 0),
    )  # fmt: skip
    assert AuditEntry.objects.get(action="change language model").details["changed"]["icon"] == ["", "entered"]
    admin.post(page_of(model), model_form(model, upstream_name="newer", make_version="on"))
    assert profile_of(LanguageModel.objects.get(slug="gpt-v2").pk).icon == stored.pk
    for page in ("/models/", "/leaderboard/", "/leaderboard/models/gpt-v2/", "/?mode=compare"):
        assert f'<img class="model-icon" src="{described["icon"]}"' in Client().get(page).content.decode()
    for slug, icons in (("gpt", 1), ("gpt-v2", 0)):
        model = LanguageModel.objects.get(slug=slug)
        admin.post(page_of(model), model_form(model, remove_icon="on"))
        assert ModelIcon.objects.count() == icons


def test_model_without_icon_shows_its_organization():
    assert ">MA</span>" in model_icon("Ministral 3B", None, "Mistral AI")
    assert ">M3</span>" in model_icon("Ministral 3B", None)
