from dataclasses import dataclass

from playwright.sync_api import Browser, Locator, Page, ViewportSize

from tests.fake_provider import FakeProvider
from tools.films.film import Film
from tools.screenshots.pictures import Who
from tools.screenshots.studio import ENGLISH, Studio

DESK: ViewportSize = {"width": 1280, "height": 860}
# A page has this time; an answer of the local model has TIMEOUT_MS.
PATIENCE_MS = 20_000
PHONE: ViewportSize = {"width": 390, "height": 844}


@dataclass
class Scene:
    film: Film
    browser: Browser
    studio: Studio
    provider: FakeProvider

    @property
    def page(self) -> Page:
        return self.film.page

    def enter(self, size: ViewportSize, *, is_dark: bool = False, locale: str = ENGLISH) -> Page:
        """Film a new browser of a person without an account; return its page."""
        is_phone = size["width"] < 640
        context = self.browser.new_context(
            base_url=self.studio.url, viewport=size, has_touch=is_phone, is_mobile=is_phone, locale=locale,
            color_scheme="dark" if is_dark else "light", accept_downloads=True,
        )  # fmt: skip
        context.set_default_timeout(PATIENCE_MS)
        self.film.follow(context.new_page())
        return self.page

    def sign_in(self, who: Who) -> None:
        cookie = self.studio.cookie_of(who)
        assert cookie is not None
        self.page.context.add_cookies([cookie])

    def press(self, name: str, *, role: str = "button", seconds: float = 1) -> None:
        """Click the first button or link of this name in the page."""
        self.click(self.page.get_by_role(role, name=name).first, seconds)  # type: ignore[arg-type]

    def click(self, target: Locator, seconds: float = 1) -> None:
        target.click()
        self.page.wait_for_load_state()
        self.film.look(seconds)

    def sign_in_by_form(self, email: str, password: str) -> None:
        """Fill in the page's form, and wait for the next page."""
        self.page.locator("[name=login]").fill(email)
        self.page.locator("[name=password]").fill(password)
        with self.page.expect_navigation():
            self.page.keyboard.press("Enter")
