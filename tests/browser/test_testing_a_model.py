"""An administrator adds a provider, picks a model of it and sees it answer, in a real browser."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.administration import ADMINISTRATOR, see_the_answer_grow, sign_in
from tests.fake_provider import FakeProvider
from tests.faults.running import Arena, arena_with

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def arena(_fake_provider: FakeProvider) -> Iterator[Arena]:
    with arena_with(_fake_provider, **ADMINISTRATOR) as arena:
        yield arena


@pytest.fixture
def admin_page(arena: Arena, page: Page) -> Page:
    sign_in(arena, page)
    return page


def test_from_a_preset_to_an_answer_that_grows(arena: Arena, admin_page: Page, fake_provider: FakeProvider):
    page = admin_page
    fake_provider.serves = {"data": [{"id": "slow"}, {"id": "honest"}]}
    page.goto(f"{arena.url}/admin/models_registry/provider/")
    page.get_by_role("link", name="Add provider").click()
    page.get_by_role("link", name="llama.cpp").click()
    expect(page.get_by_label("Base URL:")).to_have_value("http://127.0.0.1:8080/v1")
    page.get_by_label("Name:").fill("The other server")
    page.get_by_label("Base URL:").fill(fake_provider.base_url.replace("127.0.0.1", "localhost"))
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("button", name="Ask what it serves").click()
    page.get_by_label("slow").check()
    page.get_by_label("active: battles draw them at once").check()
    page.get_by_role("button", name="Add the ticked models").click()
    page.get_by_role("link", name="Test this model").click()
    page.get_by_label("Prompt").fill("<b>one</b> " + "two three four five " * 15)
    page.get_by_role("button", name="Ask the model").click()

    see_the_answer_grow(page)
    answer = page.locator("[data-of=text] pre")
    expect(answer).to_have_text(re.compile(r"^<b>one</b> (two three four five ){15}"))
    expect(page.locator("#model-test").get_by_role("row", name="Tokens")).to_contain_text("7 sent, 61 written")


def test_without_scripts_the_answer_is_read_by_asking_again(arena: Arena, admin_page: Page):
    page = admin_page
    page.route("**/*.js", lambda route: route.abort())
    page.goto(f"{arena.url}/admin/models_registry/languagemodel/?q=left-one")
    page.get_by_role("link", name="Left one").click()
    page.get_by_role("link", name="Test this model").click()
    page.get_by_role("button", name="Ask the model").click()
    for _ in range(50):
        if page.get_by_text("The model answered").is_visible():
            break
        page.wait_for_timeout(200)
        page.reload()
    expect(page.locator("[data-of=text] pre")).to_have_text("Introduce yourself in two sentences. ")
