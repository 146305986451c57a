import re

import pytest
from django.core import mail
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from accounts.models import AuditEntry, User
from arena_site import pages
from site_content import colours, current
from site_content.models import SiteIdentity
from tests import make
from tests.uploads.pictures import opened, picture, png_that_claims

pytestmark = pytest.mark.django_db
ADD, CHANGE = "/admin/site_content/siteidentity/add/", "/admin/site_content/siteidentity/1/change/"
LIST = "/admin/site_content/siteidentity/"


def save(admin: Client, page: str = ADD, *, logo: bytes | None = None, **fields: str) -> str:
    """Send the form; return the page that refuses it, or ""."""
    form = {"name": "Ville d’Été", "shows_name": "on", "accent": "", "accent_dark": "", **fields}
    if logo is not None:
        form["logo_file"] = SimpleUploadedFile("logo.png", logo)
    answer = admin.post(page, form)
    return "" if answer.status_code == 302 else answer.text


def test_name_is_on_pages_errors_api_and_in_emails(admin: Client, client: Client, rf, settings):
    assert save(admin, name="<b>Ville</b>") == ""
    shown = "&lt;b&gt;Ville&lt;/b&gt;"
    for html in (Client().get("/").text, Client().get("/nowhere/").text, pages.server_error(rf.get("/")).text):
        assert f"· {shown}</title>" in html
        assert f'<span class="site-name">{shown}</span>' in html
    assert f"{shown} administration" in admin.get("/admin/").text
    assert client.get("/api/v1/site/").json()["name"] == "<b>Ville</b>"
    assert client.get("/api/v1/schema/").json()["info"]["title"] == "<b>Ville</b>"
    make.user("ada@example.org")
    Client().post("/accounts/password/reset/", {"email": "ada@example.org"})
    assert "Hello from <b>Ville</b>!" in mail.outbox[0].body


def test_accent_is_a_versioned_stylesheet_without_a_query(admin: Client, django_assert_num_queries):
    assert save(admin, accent=" #0000FF ") == ""
    [address] = re.findall(r'href="(/site/accent/[^"]+\.css)"', Client().get("/").text)
    with django_assert_num_queries(0):
        answer = Client().get(address)
    assert answer.headers["Content-Type"] == "text/css; charset=utf-8"
    assert "immutable" in answer.headers["Cache-Control"]
    assert f"--accent: light-dark(#0000ff, {colours.dark_colour('#0000ff')});" in answer.text
    older = Client().get(re.sub(r"-\w{8}\.css", "-00000000.css", address))
    assert (older.headers["Cache-Control"], older.text) == ("public, no-cache", answer.text)
    for theme in ("red;}-7cc7a5-0", "ffff00-7cc7a5-0", "1c6b50", "1C6B50-7cc7a5-0", "1c6b50-1c6b50-0"):
        assert Client().get(f"/site/accent/{theme}.css").status_code == 404


def test_colours_have_a_picker(admin: Client):
    page = admin.get(ADD).text
    for field, own in (("accent", "#1c6b50"), ("accent_dark", "#7cc7a5")):
        assert (
            f'<input type="color" value="{own}" aria-label="Pick a colour" data-colour-of="id_{field}" hidden>' in page
        )
    assert re.search(r'<script src="/static/js/colour_picker[^"]*" defer>', page)


@pytest.mark.processes
@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"accent": "red;}"}, "“red;}” is no colour."),
        ({"accent": "#ff8800"}, "The contrast of #ff8800 in the light theme is only 2.06 : 1; it must be 4.5 : 1."),
        ({"accent": "#000000", "accent_dark": "#333333"}, "The contrast of #333333 in the dark theme is only 1.15 : 1"),
        ({"accent": "", "accent_dark": "#ffffff"}, "Choose a colour for the light theme, too."),
        ({"name": "A\x1bB"}, "The name contains an invalid character."),
        ({"logo": png_that_claims(40_000, 40_000)}, "This picture has too many pixels."),
        ({"logo": picture()[:-20]}, "This picture is damaged."),
        ({"logo": b"<svg/>"}, "The logo must be a PNG, JPEG, WebP or GIF."),
        ({"logo": picture() + b"\0" * 1_000_000}, "The logo is larger than 1 MB."),
    ],
)
def test_invalid_identity_is_refused_and_nothing_is_stored(admin: Client, fields: dict, sentence: str):
    page = save(admin, **{"accent": "#1c6b50", "name": "Kept", **fields})
    assert sentence in page.replace("&#x27;", "'")
    assert 'value="Kept"' in page or "name" in fields
    assert not SiteIdentity.objects.exists()
    assert not AuditEntry.objects.exists()


@pytest.mark.processes
def test_logo_is_reencoded_kept_and_removed(admin: Client, administrator: User):
    assert save(admin, logo=picture(width=3000, height=500, mode="RGBA")) == ""
    logo = current.site().logo
    html = Client().get("/").text
    assert f'<img class="logo" src="/site/logo/{logo.digest}.png" width="480"' in html
    shown = {name: Client().get(f"/site/{name}/{logo.digest}.png") for name in ("logo", "icon")}
    assert {name: opened(each.content).size for name, each in shown.items()} == {"logo": (480, 80), "icon": (64, 64)}
    assert opened(shown["logo"].content).mode == "RGBA"
    assert f'<link rel="icon" href="/site/icon/{logo.digest}.png"' in html
    assert "_addanother" not in admin.get(CHANGE).text
    assert admin.get(LIST).headers["Location"] == CHANGE
    assert admin.get(ADD).headers["Location"] == CHANGE
    assert save(admin, CHANGE, name="Another") == ""
    assert current.site().logo == logo
    assert save(admin, CHANGE, remove_logo="on") == ""
    assert (current.site().logo, Client().get(f"/site/logo/{logo.digest}.png").status_code) == (None, 404)
    entries = AuditEntry.objects.order_by("pk").values_list("user", "action", "details__name")
    names = ["Ville d’Été", "Another", "Ville d’Été"]
    verbs = ["add", "change", "change"]
    assert list(entries) == [
        (administrator.pk, f"{verb} site identity", name) for verb, name in zip(verbs, names, strict=True)
    ]


def test_moderator_cannot_change_site_content(at_work: Client):
    for page in (ADD, "/admin/site_content/pageversion/add/", "/admin/battles/feedbacktag/add/"):
        assert at_work.get(page).status_code == 403
