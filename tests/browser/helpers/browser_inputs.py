"""Three ways to operate a page: mouse, touch, and keys alone."""

from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from tests.browser.helpers.axe import PHONE, WIDE

# Long enough for a busy machine.
PATIENCE_MS = 120_000
MAX_TABS = 150
# Name: (screen, has touch, by keys). Keys on a phone's screen stand for a desktop at 400 % zoom.
HANDS = {
    "mouse": (WIDE, False, False), "finger": (PHONE, True, False), "keys": (WIDE, False, True),
    "keys-zoomed": (PHONE, False, True),
}  # fmt: skip
# Where the layout changes how keys are used. Other tests leave keys on a phone's screen out.
with_zoomed_keys = pytest.mark.parametrize("hand", HANDS, indirect=True)


@dataclass
class Hand:
    """Operates a page by mouse, by touch, or `by_keys` alone."""

    page: Page
    name: str = "mouse"
    by_keys: bool = False

    def press(self, target: Locator) -> None:
        if self.by_keys:
            self.reach(target)
            target.press("Enter")  # waits for the next page, as a click does
        else:
            target.wait_for()
            self.page.wait_for_load_state()
            target.click()

    def tick(self, target: Locator) -> None:
        """Click the label, because the input itself may be hidden behind a drawing; nothing if it is checked."""
        if target.is_checked():
            return
        if self.by_keys:
            self.reach(target)
            self.page.keyboard.press("Space")
        else:
            target.evaluate_handle("element => element.labels[0]").as_element().click()
            expect(target).to_be_checked()

    def choose_files(self, target: Locator) -> None:
        """Open the browser's file chooser."""
        self.press(target if self.by_keys else target.locator("xpath=ancestor::label"))

    def write(self, target: Locator, text: str) -> None:
        """Replace the field's content."""
        if self.by_keys:
            self.reach(target)
            self.page.keyboard.press("ControlOrMeta+a")
            self.page.keyboard.type(text) if text else self.page.keyboard.press("Delete")
        else:
            target.fill(text)

    def pick(self, target: Locator, label: str) -> None:
        """Choose an option of a select element."""
        if self.by_keys:
            self.reach(target)
            self.page.keyboard.type(label.split()[0])  # a space typed after a second's pause would open the list
            expect(target.locator("option:checked")).to_have_text(label)
        else:
            target.select_option(label=label)

    def pick_model(self, button: Locator, name: str) -> None:
        """Choose a model in a picker of one."""
        self.press(button)
        if self.by_keys:
            expect(self.page.locator(":popover-open [type=search]")).to_be_focused()
            self.page.keyboard.type(name)
            self.page.keyboard.press("Enter")
        else:
            self.page.locator(":popover-open label").filter(has_text=name).click()
        expect(button).to_contain_text(name)

    def reach(self, target: Locator) -> None:
        """Press Tab until `target` has the focus, once around the page at most."""
        expect(target).to_be_enabled()
        self.page.wait_for_load_state()  # then the scripts listen
        element = target.element_handle()  # a role lookup at each Tab would take most of the time
        for _ in range(MAX_TABS):
            is_focused = element.evaluate("one => one.isConnected ? one === document.activeElement : null")
            if is_focused:
                return
            if is_focused is None:
                element = target.element_handle()
            else:
                self.page.keyboard.press("Tab")
        expect(target).to_be_focused(timeout=1)


def new_context(browser: Browser, **options: Any) -> BrowserContext:
    context = browser.new_context(**options)
    context.set_default_timeout(PATIENCE_MS)
    return context


def fresh(browser: Browser, name: str) -> Hand:
    """Return this kind of hand in a new context, which the caller closes."""
    size, touches, by_keys = HANDS[name]
    context = new_context(browser, viewport=size, has_touch=touches, reduced_motion="reduce")
    return Hand(context.new_page(), name, by_keys)
